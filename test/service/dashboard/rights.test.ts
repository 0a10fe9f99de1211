import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { fileFolder } from '../../support/folders.js';
import { atBrowser } from './forms.js';
import { openDashboard } from './open.js';

const forms = [
  ['/send', { to: '99112233', text: 'Hi', do: 'send', price: '10' }],
  ['/keys', { label: 'mine' }],
  ['/settings/sending', { per_10_minutes: '1', per_24_hours: '1' }],
  ['/settings/prices', { sms_part: '0', email: '0' }],
] as const;

async function expectOnlyLooks(
  { get, post, service }: Awaited<ReturnType<typeof openDashboard>>,
  cookie: string,
) {
  const { id: key } = await service.administration.createKey({ label: 'theirs' });
  const mail = 'From: bat@example.mn\r\nTo: info@shop.mn\r\nSubject: Hi\r\n\r\nHi\r\n';
  await service.administration.settings.update({ own_domain: 'shop.mn' });
  await service.administration.receiveMail(Buffer.from(mail), ['info@shop.mn']);
  const before = JSON.stringify([
    await service.administration.settings.get(),
    await service.administration.listKeys(),
  ]);
  for (const path of [
    '',
    '/messages',
    '/batches',
    '/inbox',
    '/keys',
    '/settings/sending',
    '/settings/email',
    '/settings/prices',
  ]) {
    const page = await get(path, cookie);
    const html = await page.text();
    expect(page.status).toBe(200);
    const actions = [...html.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);
    expect(actions).toEqual(['/dashboard/language', '/dashboard/sign-out']);
    expect(html).not.toMatch(/href="\/dashboard\/(?:send|keys\/)/);
  }
  for (const path of ['/send', '/send?channel=email']) expect((await get(path, cookie)).status).toBe(403);
  expect((await get(`/keys/${key}/revoke`, cookie)).status).toBe(404);
  for (const [path, fields] of [...forms, [`/keys/${key}/revoke`, {}] as const]) {
    const answer = await post(path, fields, cookie);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('This session is read-only.');
  }
  const after = JSON.stringify([
    await service.administration.settings.get(),
    await service.administration.listKeys(),
  ]);
  expect(after).toBe(before);
  expect((await post('/language', { language: 'mn' }, cookie)).status).toBe(303);
  expect((await post('/sign-out', {}, cookie)).status).toBe(303);
  expect((await get('/messages', cookie)).status).toBe(401);
}

describe('a read-only session', () => {
  it('comes from a read-only link, and has no form but language and sign-out', async () => {
    const opened = await openDashboard();
    const cookie = await opened.signIn(undefined, { readOnly: true });
    await expectOnlyLooks(opened, cookie);
  });

  it.each(['send.', 'all.', 'all.send.', 'x'])('is refused under another mark: %j', async (mark) => {
    const { signIn, get } = await openDashboard();
    const [name, token = ''] = (await signIn(undefined, { readOnly: true })).split('=');
    expect(token).toMatch(/^look\./);
    for (const forged of [mark + token, token.replace('look.', mark)])
      expect((await get('/messages', `${name}=${forged}`)).status).toBe(401);
  });

  it('of all projects switches between them', async () => {
    const opened = await openDashboard();
    const { id } = await opened.service.administration.createProject('Shop');
    const cookie = await opened.signIn(undefined, { allProjects: true, readOnly: true });
    const chosen = await opened.post('/project', { project: id }, cookie);
    const both = `${cookie}; ${chosen.headers.get('set-cookie')?.split(';')[0]}`;
    expect(await (await opened.get('/messages', both)).text()).toContain('Shop');
    expect((await opened.post('/keys', { label: 'x', project: id }, both)).status).toBe(403);
  });

  it('is one that began in an earlier release, and one of a link made there', async () => {
    const directory = fileFolder();
    const opened = await openDashboard({ directory });
    const database = new (await loadEngine()).DatabaseSync(join(directory, 'service.db'));
    const add = (token: string, isLink: number) =>
      database
        .prepare(
          `INSERT INTO sign_ins (hash, project, is_link, length, until)
           SELECT ?, project, ?, length, until FROM sign_ins LIMIT 1`,
        )
        .run(createHash('sha256').update(token).digest(), isLink);
    const name = (await opened.signIn()).split('=')[0];
    add('A'.repeat(32), 0);
    add('B'.repeat(32), 1);
    database.close();
    await expectOnlyLooks(opened, `${name}=${'A'.repeat(32)}`);
    const linked = await opened.post('/sign-in', { token: 'B'.repeat(32) });
    const cookie = linked.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await opened.get('/messages', cookie)).status).toBe(200);
    expect((await opened.post('/keys', { label: 'mine' }, cookie)).status).toBe(403);
  });

  it('is unknown to a release without such sessions: its hash differs', async () => {
    const directory = fileFolder();
    const { signIn, newLink, tokenOf, service } = await openDashboard({ directory });
    const tokens = [
      (await signIn(undefined, { readOnly: true })).split('=')[1] ?? '',
      tokenOf(await newLink(service.administration, { readOnly: true })),
    ];
    const database = new (await loadEngine()).DatabaseSync(join(directory, 'service.db'));
    const find = database.prepare('SELECT count(*) AS count FROM sign_ins WHERE hash = ?');
    for (const token of tokens)
      expect(find.get(createHash('sha256').update(token).digest())).toEqual({ count: 0 });
    database.close();
  });
});

describe('a form to send', () => {
  it('may be as long as the API allows for a session, and only as long as any other for a stranger', async () => {
    const opened = await openDashboard();
    const to = Array.from({ length: 1_000 }, (_, index) => `someone.with-a-long-name.${index}@example.mn`);
    const given = { channel: 'email', to: to.join('\r\n'), subject: 'Hi', text: 'Ж'.repeat(110_000) };
    const { preview, confirm } = atBrowser(opened, await opened.signIn());
    const looked = await preview(given, '?channel=email');
    expect(looked.words).toContain('2 × 1,000 = 2,000');
    expect((await confirm(looked)).location).toMatch(/^\/batches\//);
    expect((await opened.post('/send', { text: 'x'.repeat(66_000) })).status).toBe(413);
    expect((await opened.post('/send', { text: 'x'.repeat(60_000) })).status).toBe(401);
    expect((await opened.post('/send', { text: 'x'.repeat(1_100_000) }, await opened.signIn())).status).toBe(
      413,
    );
  });

  it('of another project than the page shows sends nothing', async () => {
    const opened = await openDashboard();
    const { id } = await opened.service.administration.createProject('Shop');
    const shop = await opened.service.administration.project(id);
    const { preview } = atBrowser(opened, await opened.signIn());
    const looked = await preview({ to: '99112233', text: 'Hi' });
    const other = await opened.signIn(shop ?? undefined);
    expect((await opened.post(looked.path, { ...looked.fields, do: 'send' }, other)).status).toBe(409);
    const foreign = { origin: 'https://example.com' };
    const own = await opened.signIn();
    expect((await opened.post(looked.path, { ...looked.fields, do: 'send' }, own, foreign)).status).toBe(403);
    const sent = await opened.service.fetch('http://embedded.invalid/v1/messages', {
      headers: { authorization: `Bearer ${opened.service.localKey}` },
    });
    expect(await sent.json()).toMatchObject({ data: [] });
  });
});
