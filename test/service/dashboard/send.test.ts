import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDashboard } from '../../../src/service/dashboard/dashboard.js';
import { originOf } from '../../../src/service/dashboard/origin.js';
import { ManualClock } from '../../../src/service/index.js';
import { takeToken } from '../../../src/service/operations/admission.js';
import { Cores, outboxOf } from '../../support/cores.js';
import { atBrowser } from './forms.js';
import { openDashboard, start } from './open.js';

const sms = { to: '99112233', text: 'Сайн уу' };

async function openSending(given: Parameters<typeof openDashboard>[0] = {}) {
  const opened = await openDashboard(given);
  const cookie = await opened.signIn();
  const { administration } = opened.service;
  const sent = async () => {
    await administration.idle();
    return (await outboxOf({ administration })).length;
  };
  return { ...opened, administration, cookie, sent, ...atBrowser(opened, cookie) };
}

describe('a form of the dashboard', () => {
  it('shows what it would send and costs, sends it, and says where it came from', async () => {
    const { preview, confirm, open, sent, addresses, call } = await openSending();
    const looked = await preview({ ...sms, text: 'a'.repeat(151) });
    expect(looked.words).toMatch(
      /^Send Preview Channel SMS Recipients 99112233 Parts 2, 151 Latin characters Credits 20 × 1 = 20, of 100,000 Text a+ Send Edit$/,
    );
    expect(await sent()).toBe(0);
    const { status, location } = await confirm(looked);
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/messages\/[\da-f-]{36}\?done=sent$/)]);
    expect(await sent()).toBe(1);
    expect((await open(location)).words).toMatch(/Accepted\. New message .*Sent from the dashboard/);
    const { id } = await call('/sms', sms);
    expect((await open(`/messages/${id}`)).words).not.toContain('Sent from');
    // Nobody who sees an address, a log or a history sees whom somebody wrote to.
    expect(addresses.join()).not.toMatch(/99112233|a{9}/);
  });

  it.each([
    ['an email', { channel: 'email', to: 'bat@example.mn', subject: 'Гэрээ', text: 'Сайн уу\r\n\r\nБат' }, 1],
    [
      'a list of numbers',
      {
        ...sms,
        to: '99112233\r\n+976 8811-2233,\n99112233;\t\n\u202d95\u202f11\u00a022\ufe0d33\u202c\u3164',
      },
      3,
    ],
    ['a list in one line', { ...sms, to: '\n99112233, 88112233;95112233\t99112233\n' }, 3],
    ['a list of addresses', { channel: 'email', to: 'a@b.mn\nc@d.mn', subject: 'Re', text: 'Hi' }, 2],
  ])('sends %s as it was written', async (_, fields, count) => {
    const { send, open, sent, administration } = await openSending();
    const { location } = await send(fields, 'channel' in fields ? '?channel=email' : '');
    expect(location).toMatch(count > 1 ? /^\/batches\/.*\?done=sent$/ : /^\/messages\/.*\?done=sent$/);
    expect(await sent()).toBe(count);
    expect((await open(location)).words).toMatch(/Sent from the dashboard/);
    for (const { text } of await outboxOf({ administration }))
      expect(text).toBe(fields.text.replaceAll('\r\n', '\n'));
  });
});

describe('one message', () => {
  it('is what a form sends, pressed twice at once, again, after Back, and from another tab', async () => {
    const { preview, confirm, sent, press, open, cookie, address, signIn, get, post } = await openSending();
    const looked = await preview(sms);
    const both = await Promise.all([confirm(looked), confirm(looked)]);
    const ids = both.map(({ location }) => location.split('?')[0]);
    expect(ids[0]).toBe(ids[1]);
    // Back to the form: its address is that of the same form. Back to the preview, which was edited and then not.
    const back = await open(looked.path);
    const again = await press({ ...back, fields: { ...back.fields, ...sms, to: ' +976 9911-2233 ' } });
    const edited = await press(looked, { do: 'edit' });
    expect(edited.fields).toMatchObject(sms);
    const own = { get, post, address } as never;
    const tab = atBrowser(own, await signIn());
    for (const each of [await confirm(again), await confirm(await press(edited)), await tab.confirm(looked)])
      expect(each.location).toBe(`${ids[0]}?done=before`);
    expect((await open(`${ids[0]}?done=before`)).words).toContain('Nothing was sent again.');
    expect(await sent()).toBe(1);
    expect(cookie).not.toBe('');
  });

  it.each([
    ['an email', { channel: 'email', to: 'bat@example.mn', subject: 'Re', text: 'Hi' }, 1],
    ['a batch', { ...sms, to: '99112233\n88112233\n95112233' }, 3],
  ])('is what each recipient gets of %s that is pressed ten times at once', async (_, fields, count) => {
    const { preview, confirm, sent, open } = await openSending();
    const looked = await preview(fields, 'channel' in fields ? '?channel=email' : '');
    const all = await Promise.all(Array.from({ length: 10 }, () => confirm(looked)));
    const [shown, ...others] = new Set(all.map(({ location }) => location.split('?')[0]));
    expect(others).toEqual([]);
    expect(await sent()).toBe(count);
    const [, message] =
      /href="\/dashboard(\/messages\/[\da-f-]{36})"/.exec((await open(shown ?? '')).html) ?? [];
    expect((await open(message ?? shown ?? '')).words).toContain('Sent from the dashboard');
  });

  it.each([
    ['the same numbers', 'sms', '99112233\n88112233', '+976 8811-2233, 99112233, 88112233'],
    ['the same addresses', 'email', 'a@b.mn\nc@d.mn', 'C@d.mn\nA@B.MN\na@b.mn'],
    ['the same address', 'email', 'a@b.mn', 'A@B.mn'],
  ])('is what a form sends to %s in another order, spelling or number', async (_, channel, to, same) => {
    const { preview, confirm, press, sent } = await openSending();
    const looked = await preview({ channel, to, subject: 'Re', text: 'Hi' }, `?channel=${channel}`);
    const first = await confirm(looked);
    const before = await sent();
    const again = await confirm(await press({ ...looked, fields: { ...looked.fields, to: same } }));
    expect(again.location).toBe(first.location.replace('=sent', '=before'));
    expect(await sent()).toBe(before);
  });

  it.each([
    ['another text', { text: 'Сайн уу!' }],
    ['another recipient', { to: '99112234' }],
  ])('more is sent by a form with %s', async (_, changed) => {
    const { preview, confirm, press, sent } = await openSending();
    const looked = await preview(sms);
    const first = await confirm(looked);
    const edited = await press(looked, { do: 'edit' });
    const second = await confirm(await press({ ...edited, fields: { ...edited.fields, ...changed } }));
    expect(second.location).toMatch(/done=sent$/);
    expect(second.location).not.toBe(first.location);
    expect(await sent()).toBe(2);
  });

  it('is all that leaves where the answer to the first press was lost', async () => {
    const { preview, confirm, sent, address, cookie } = await openSending();
    const looked = await preview({ ...sms, to: '99000006' });
    const lost = new AbortController();
    const first = fetch(`${address}/dashboard${looked.path}`, {
      method: 'POST',
      headers: { cookie, origin: address },
      body: new URLSearchParams({ ...looked.fields, do: 'send' }),
      signal: lost.signal,
    }).catch(() => null);
    setImmediate(() => lost.abort());
    await first;
    const next = await confirm(looked);
    expect(next.location).toMatch(/^\/messages\//);
    expect(await sent()).toBe(1);
  });

  it('is not held at night, but a list is, and its preview and batch say until when', async () => {
    const { preview, confirm, open, administration } = await openSending();
    await administration.settings.update({ quiet_hours: '14:00-16:30' });
    expect((await preview(sms)).words).not.toContain('quiet');
    const list = await preview({ ...sms, to: '99112233\n88112233' });
    expect(list.words).toMatch(/ Waiting quiet until 16:30 .* Send Edit$/);
    expect((await open((await confirm(list)).location)).words).toMatch(/Processing .*quiet until 16:30/);
    await administration.settings.update({ quiet_hours: null });
    await administration.idle();
    const done = await open((await confirm(list)).location);
    expect(done.words).not.toContain('quiet');
  });

  it('is said to be accepted, or sent before, where its page is over the rate', async () => {
    const { preview, confirm, open, get, cookie } = await openSending({ rates: 'enforced' });
    const looked = await preview(sms);
    const [first, again] = [await confirm(looked), await confirm(looked)];
    while ((await get('/messages', cookie)).status === 200);
    expect((await open(first.location)).words).toMatch(
      /Too many requests Accepted\. .*Reload in 1 s\. Reload$/,
    );
    expect((await open(again.location)).words).toMatch(
      /Too many requests .*Nothing was sent again\. .*Reload$/,
    );
  });

  it('is shown, not refused, where its lane was paused since', async () => {
    const { send, preview, confirm, administration, press, write, sent } = await openSending();
    const looked = await preview(sms);
    const first = await confirm(looked);
    const pause = async (status: 'paused' | 'open') => {
      for (const { lane } of await administration.listLanes())
        await administration.setLaneStatus(lane, status);
    };
    await pause('paused');
    expect((await confirm(looked)).location).toBe(first.location.replace('sent', 'before'));
    // A new one is not sent, and asks again under the same key.
    const doubt = await send({ ...sms, text: 'Later' });
    expect(doubt.status).toBe(503);
    expect(doubt.words).toMatch(
      /^urtuu Not confirmed .*paused; nothing was done .* never sent twice\. Ask again$/,
    );
    await pause('open');
    const asked = await press(doubt);
    expect(asked.location).toMatch(/done=sent$/);
    expect((await press(doubt)).location).toBe(asked.location.replace('sent', 'before'));
    expect(await sent()).toBe(2);
    expect((await write(sms)).fields.to).toBe(sms.to);
  });

  it('costs no more than its preview said', async () => {
    const { preview, confirm, administration, sent, press } = await openSending();
    const looked = await preview(sms);
    await administration.settings.update({ prices: { sms_part: 11 } });
    const dearer = await confirm(looked);
    expect(dearer).toMatchObject({ status: 409, words: expect.stringContaining('The price has changed.') });
    // Nor is anything sent that had no preview.
    const { price: _, ...unseen } = looked.fields;
    expect((await press({ ...looked, fields: unseen }, { do: 'send' })).status).toBe(409);
    expect(await sent()).toBe(0);
    expect((await confirm(dearer)).location).toMatch(/done=sent$/);
  });
});

describe('a form that cannot be sent', () => {
  const email = { channel: 'email', to: 'a@b.mn', subject: 'Re', text: 'Hi' };

  it.each([
    ['to', { ...sms, to: 'Бат' }, 'to: must be a phone number of 8 digits'],
    ['to', { ...sms, to: '+1 555 010 9999' }, 'to: no supported operator serves this number'],
    ['to', { ...sms, to: `99112233${'\n99112233'.repeat(1_000)}` }, 'to: must have at most 1000 entries'],
    ['to', { ...email, to: 'bat' }, 'to: must be an email address'],
    ['to', { ...sms, to: '99112233\n\n88112233\t95000000' }, 'to: line 3 has more than one entry'],
    ['to', { ...email, to: 'Bat;a@b.mn\nDorj;c@d.mn' }, 'to: line 1 has more than one entry'],
    ['text', { ...sms, text: '' }, 'text: must not be empty'],
    ['text', { ...sms, text: 'Ж'.repeat(301) }, 'text: 301 Cyrillic characters do not fit into 5 parts'],
    ['text', { ...email, text: 'x'.repeat(262_145) }, 'html, text: 262145 bytes together'],
    ['subject', { ...email, subject: ' ' }, 'subject: must not be empty'],
  ])('says why beside %s, in the words of the API, and keeps what was written', async (field, given, why) => {
    const { preview, sent } = await openSending();
    const page = await preview(given, 'channel' in given ? '?channel=email' : '');
    expect(page.fields).toMatchObject(given);
    expect(page.html).toContain(`<small id="${field}-trouble" class="bad">${why}`);
    expect(page.html).toMatch(new RegExp(`id="${field}"[^>]* aria-invalid="true"[^>]*${field}-trouble`));
    expect([page.status, await sent()]).toEqual([400, 0]);
  });

  it('names every bad entry of a list, and sends to nobody', async () => {
    const { preview, sent } = await openSending();
    const bad = Array.from({ length: 70 }, (_, index) => `7${index}<b>`);
    const page = await preview({ ...sms, to: ['99112233', ...bad, '88112233'].join('\n') });
    expect(page.words).toContain('to: 70 invalid or unsupported entries: to[1]');
    for (const entry of bad) expect(page.words).toContain(entry);
    expect([page.status, await sent()]).toEqual([400, 0]);
  });

  it.each([
    [
      'a cap',
      429,
      /already got as many messages as the caps allow/,
      { caps: { per_10_minutes: 1, per_24_hours: 1 } },
    ],
    ['a suppression', 422, /suppress/i, null],
  ])('because of %s says so beside its recipient', async (_, status, why, settings) => {
    const { send, administration, sent } = await openSending();
    if (settings !== null) {
      await administration.settings.update(settings);
      await send(sms);
    } else await administration.suppressions.add([sms.to]);
    const before = await sent();
    const page = await send({ ...sms, text: 'Again' });
    expect(page.status).toBe(status);
    expect(/id="to-trouble"[^>]*>([^<]*)/.exec(page.html)?.[1]).toMatch(why);
    expect(page.fields).toMatchObject({ ...sms, text: 'Again' });
    expect(await sent()).toBe(before);
  });

  it.each([
    ['a suppressed number', sms],
    ['a suppressed address, in another case', { channel: 'email', to: 'A@b.mn', subject: 'Re', text: 'Hi' }],
  ])('because of %s says so in its preview, without a button', async (_, fields) => {
    const { preview, administration } = await openSending();
    await administration.suppressions.add([fields.to.toLowerCase()]);
    const { words } = await preview(fields, 'channel' in fields ? '?channel=email' : '');
    expect(words).toMatch(/^Send Preview .* Suppressed Nothing more is sent to them\. .* Edit$/);
    expect(words).not.toMatch(/Send Edit$/);
  });

  it('because of the balance says what it costs, and in its preview, without a button', async () => {
    const { send, preview, administration, sent } = await openSending();
    await administration.credit(-99_995);
    const { words } = await preview(sms);
    expect(words).toMatch(/^Send The send costs 10 credits; the balance is 5 Preview .* Edit$/);
    expect(words).not.toMatch(/Send Edit$/);
    const page = await send(sms);
    expect(page).toMatchObject({
      status: 402,
      words: expect.stringContaining('The send costs 10 credits; the balance is 5'),
    });
    expect(await sent()).toBe(0);
  });

  it.each([
    ['', 0],
    [' and was sent before', 1],
  ])(
    'because of the rate%s is in doubt, for nobody has looked, until it asks again for a token',
    async (_, count) => {
      const clock = new ManualClock(start);
      const { preview, confirm, press, sent } = await openSending({ clock, rates: 'enforced' });
      const looked = await preview(sms);
      if (count > 0) await confirm(looked);
      for (let taken = count; taken < 39; taken += 1) await confirm({ ...looked, fields: {} });
      for (const over of [await confirm(looked), await press(await confirm(looked))]) {
        expect(over).toMatchObject({ status: 429, fields: { ...looked.fields, do: 'send' } });
        expect(over.words).toMatch(/^urtuu Not confirmed Too many requests; try again in 1 s .* Ask again$/);
      }
      expect(await sent()).toBe(count);
      clock.advance(1_000);
      expect((await confirm(looked)).location).toMatch(count > 0 ? /done=before$/ : /done=sent$/);
      expect(await sent()).toBe(1);
    },
  );

  it('because no operator took it is a new form, and the failed message is refunded', async () => {
    const { preview, confirm, press, open, sent } = await openSending();
    const looked = await preview({ ...sms, to: '99000001' });
    const failed = await confirm(looked);
    expect(failed).toMatchObject({ status: 502, fields: { to: '99000001', text: sms.text } });
    expect(failed.path).not.toBe(looked.path);
    const message = /href="\/dashboard(\/messages\/[^"]*)"/.exec(failed.html)?.[1] ?? '';
    expect((await open(message)).words).toMatch(/^99000001 .*Failed .*Sent from the dashboard/);
    // The old form reports it again; the new one sends.
    expect((await confirm(looked)).status).toBe(502);
    const next = await press({ ...failed, fields: { ...failed.fields, to: sms.to } });
    expect((await confirm(next)).location).toMatch(/done=sent$/);
    expect(await sent()).toBe(1);
  });
});

describe('a send of unknown outcome', () => {
  const cores = new Cores();
  afterEach(() => cores.closeAll());

  it('is in doubt, keeps what was written, and asks again under its key', async () => {
    const core = await cores.open({ clock: new ManualClock(start), rates: 'off' });
    const { context, operations } = core;
    let isLost = true;
    const dashboard = createDashboard(
      {
        ...{ ...core, clock: context.clock, encryption: context.encryption, connections: () => [] },
        operations: {
          ...operations,
          async sendSms(call) {
            const answer = await operations.sendSms(call);
            if (isLost) throw new Error('the database is gone');
            return answer;
          },
        },
        takeToken: (projectId, kind, key) => takeToken(context, projectId, kind, key),
        deliveries: (ids) => core.carrier.outbox.find(ids),
        report: (error) => core.report(error),
      },
      originOf(null, 'http://127.0.0.1:7788'),
    );
    const address = 'http://127.0.0.1:7788';
    const ask = (path: string, headers: Record<string, string>, body?: URLSearchParams) =>
      dashboard.fetch(
        new Request(`${address}/dashboard${path}`, {
          method: body ? 'POST' : 'GET',
          headers: { host: '127.0.0.1:7788', origin: address, ...headers },
          ...(body && { body }),
        }),
        async () => Buffer.from(String(body)),
      );
    await core.store.recordDashboard(address, null);
    const link = (await core.administration.createDashboardLink()) ?? '';
    const token = new URL(link).searchParams.get('token') ?? '';
    const post = (path: string, fields: Record<string, string>, cookie = '') =>
      ask(path, { cookie }, new URLSearchParams(fields));
    const cookie = (await post('/sign-in', { token })).headers.get('set-cookie')?.split(';')[0] ?? '';
    const get = (path: string) => ask(path, { cookie });
    const { preview, confirm, press } = atBrowser({ get, post } as never, cookie);
    const looked = await preview(sms);
    vi.spyOn(core.store, 'findSession').mockRejectedValueOnce(new Error('the database is away'));
    const away = await confirm(looked);
    expect(away).toMatchObject({
      status: 503,
      words: expect.stringContaining('Reload this page: a form is never sent twice.'),
    });
    expect(cores.faults.splice(0)).toHaveLength(1);
    const doubt = await confirm(looked);
    expect(doubt).toMatchObject({ status: 503, fields: expect.objectContaining(sms) });
    expect(doubt.words).toMatch(/^urtuu Not confirmed .*It may have been sent, .* Ask again$/);
    expect(cores.faults).toHaveLength(1);
    isLost = false;
    expect((await press(doubt)).location).toMatch(/^\/messages\/.*\?done=before$/);
    expect(await outboxOf(core)).toHaveLength(1);
  });
});
