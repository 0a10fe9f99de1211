import { afterAll, describe, expect, it } from 'vitest';
import { newSecrets } from '../../../src/service/dashboard/new-secrets.js';
import { originOf } from '../../../src/service/dashboard/origin.js';
import { createEncryption } from '../../../src/service/encryption.js';
import { ManualClock } from '../../../src/service/index.js';
import { systemRandom } from '../../../src/service/random.js';
import { pass } from '../../support/cores.js';
import { openDashboard, start } from './open.js';
import { hostile, populate } from './populate.js';

const paths = [
  '',
  '/messages',
  '/batches',
  '/outbox',
  '/inbox',
  '/balance',
  '/keys',
  '/settings/sending',
  '/settings/email',
  '/settings/prices',
];

/** The words of a page's content. */
const wordsOf = (html: string) =>
  html
    .replace(/^.*<div id="content">|<footer>.*$/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();

async function openPopulated(atEnd?: (close: () => Promise<void>) => void) {
  const clock = new ManualClock(start);
  const opened = await openDashboard({ clock, ...(atEnd && { atEnd }) });
  const ids = await populate(opened.service, clock, opened.call);
  const cookie = await opened.signIn();
  const page = async (path: string, headers = {}) => {
    const answer = await opened.get(path, cookie, headers);
    const html = await answer.text();
    return { status: answer.status, headers: answer.headers, html, words: wordsOf(html) };
  };
  const { key: _, batch: __, ...messages } = ids;
  return { ...opened, clock, ids, messages: Object.values(messages), cookie, page };
}

let close = async () => {};
/** One for all tests that only look. */
let looking: ReturnType<typeof openPopulated> | undefined;
const look = () => {
  looking ??= openPopulated((end) => {
    close = end;
  });
  return looking;
};
afterAll(() => close());

describe('every page', () => {
  it('has no script, style or handler of its own, whatever people have sent', async () => {
    const { ids, messages, page } = await look();
    const all = [...paths, ...messages.map((id) => `/messages/${id}`), `/batches/${ids.batch}`];
    for (const path of all) {
      for (const language of ['en', 'mn']) {
        const { status, headers, html } = await page(path, { 'accept-language': language });
        expect(status).toBe(200);
        expect(headers.get('content-security-policy')).toMatch(
          /^default-src 'none'.*frame-ancestors 'none'$/,
        );
        expect(headers.get('content-security-policy')).not.toContain('unsafe');
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('referrer-policy')).toBe('same-origin');
        expect(html.match(/<script/g)).toHaveLength(1);
        expect(html).not.toMatch(/<[^>]+\s(?:style|on\w+)=|javascript:|<style|\{[a-z]+\}(?! \$)/i);
        expect(html).toContain(`<html lang="${language}">`);
      }
    }
  });

  it('is in the language that was chosen, else in that of the browser, else in English', async () => {
    const { get, post, cookie } = await look();
    const titleOf = async (headers: Record<string, string>, more = '') =>
      /<h1>([^<]*)/.exec(await (await get('', `${cookie}; ${more}`, headers)).text())?.[1];
    expect(await titleOf({})).toBe('Overview');
    expect(await titleOf({ 'accept-language': 'de, mn-MN;q=0.8, en;q=0.5' })).toBe('Тойм');
    const chosen = await post('/language', { language: 'mn', path: '/dashboard/keys?a=1' }, cookie);
    expect(chosen.headers.get('location')).toBe('/dashboard/keys?a=1');
    const more = chosen.headers.get('set-cookie')?.split(';')[0];
    expect(await titleOf({ 'accept-language': 'en' }, more)).toBe('Тойм');
  });
});

describe('the overview', () => {
  it('says how the day goes', async () => {
    const { page } = await look();
    const { words } = await page('');
    expect(words).toMatch(
      /Sent today 364 Unknown today 1 they may have arrived Failed today 5 1\.4% of all today Waiting 0 nothing in the queue Codes verified today 0 of 1 sent Credits 121,358/,
    );
    expect(words).toMatch(/Failures today See all Failures today Reason Count provider_failed 5/);
    expect(words).toContain('Simulated: nothing leaves this machine');
  });

  it('of a new project says what to do', async () => {
    const { get, signIn } = await openDashboard();
    const words = wordsOf(await (await get('', await signIn())).text());
    expect(words).toContain('No messages today.');
    expect(words).toMatch(/urtuu login --base-url http:\/\/\S+\/v1 urtuu sms send 99112233 Hi/);
  });
});

describe('messages', () => {
  it.each([
    ['to=%2B976+88112233', /88112233/, 1],
    ['status=failed', /provider_failed/, 5],
    ['delivery=undelivered', /Undelivered/, 1],
    ['channel=email&status=sent', /bat@example\.mn/, 1],
    ['channel=email&status=queued', /No messages match/, 0],
    ['since=2026-11-20T07:00:00Z', /No messages match/, 0],
  ])('are filtered by %s', async (query, words, count) => {
    const { page } = await look();
    const found = await page(`/messages?${query}`);
    expect(found.words).toMatch(words);
    expect(found.html.match(/<tr id="m/g)?.length ?? 0).toBe(count);
  });

  it('go on page by page until the first', async () => {
    const { page } = await look();
    const seen = new Set<string>();
    let path: string | undefined = '/messages';
    for (let pages = 0; path !== undefined && pages < 20; pages += 1) {
      const { html } = await page(path);
      for (const [, id = ''] of html.matchAll(/<tr id="m([^"]+)/g)) seen.add(id);
      path = /href="\/dashboard(\/messages\?[^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen.size).toBe(370);
  });

  it('with a filter that is none say so', async () => {
    const { page } = await look();
    expect(await page('/messages?to=abc')).toMatchObject({
      status: 400,
      words: expect.stringContaining('must be a phone number or an email address'),
    });
    // Whatever is no value of a filter is left out.
    expect((await page('/messages?status=x&channel=y&after=z&since=never')).status).toBe(200);
  });

  it.each(['/messages', '/batches', '/outbox', '/inbox'])(
    '%s begins anew behind what is no id',
    async (path) => {
      const { page } = await look();
      expect((await page(`${path}?after=%00`)).status).toBe(200);
    },
  );

  it.each([
    ['hostile', /^Sent The carrier accepted it\..*<script>alert\(1\)<\/script>.*Accepted −10 .* over Unitel/],
    ['cleaned', /Дэлгэрэнгүй: Баярлалаа As delivered: the route carries no links\./],
    ['delivered', /^Delivered The carrier reports that it arrived\..*Delivered receipt/],
    [
      'undelivered',
      /^Undelivered The carrier accepted it and reports that it did not arrive.* receipt \S+ · absent .* Carrier's code absent/,
    ],
    ['email', /Plain text Таны захиалга/],
  ])('tell what happened to one: %s', async (name, words) => {
    const { ids, page } = await look();
    expect((await page(`/messages/${ids[name]}`)).words).toMatch(words);
  });

  it('show what a failed one cost: nothing, charge and refund', async () => {
    const { page } = await look();
    const id = /<tr id="m([^"]+)/.exec((await page('/messages?status=failed&channel=email')).html)?.[1];
    const { words } = await page(`/messages/${id}`);
    expect(words).toMatch(/^Failed It was not sent\. Its credits were refunded\. provider_failed/);
    expect(words).toMatch(/Accepted −2 .*Failed Refunded \+2/);
  });

  it('give the HTML of an email to a sandbox only', async () => {
    const { ids, page } = await look();
    const frame = /<iframe[^>]*>/.exec((await page(`/messages/${ids.email}`)).html)?.[0];
    expect(frame).toContain('sandbox=""');
    const { headers, html } = await page(`/messages/${ids.email}/html`);
    expect(html).toBe(hostile.html);
    expect(headers.get('content-security-policy')).toMatch(
      /^sandbox; default-src 'none';.*frame-ancestors 'self'$/,
    );
    expect((await page(`/messages/${ids.delivered}/html`)).status).toBe(404);
  });
});

describe('batches, the outbox and the ledger', () => {
  it('tell how far a batch is', async () => {
    const { ids, page } = await look();
    expect((await page('/batches')).words).toContain('Completed SMS 182 of 182 done 1 1 182 1,820');
    const { words } = await page(`/batches/${ids.batch}`);
    expect(words).toMatch(
      /^Completed 182 of 182 done .* Sent 180 Unknown 1 they may have arrived Failed 1 Left 0 Credits charged 1,820/,
    );
    expect(words).toContain('Only the unknown ones');
    expect(words).toContain('Only the failed ones');
  });

  it('show what the simulated operator delivered', async () => {
    const { page } = await look();
    expect((await page('/outbox')).words).toContain('86110179 SMS · Unitel 14:59:00 Маргааш 10 цагаас');
  });

  it('show every change of the balance, with the note of a credit', async () => {
    const { service, page } = await openPopulated();
    await service.administration.credit(500, { note: 'Invoice <17>' });
    const { words } = await page('/balance');
    expect(words).toMatch(/^Credits left 121,858/);
    expect(words).toContain('Credits added Invoice <17> +500');
    expect(words).toMatch(/Opening balance \+100,000/);
  });
});

describe('a text of 70,000 characters', () => {
  const long = `${'Ж'.repeat(999)}😀${'a'.repeat(69_000)}the end`;
  const mail = `From: b@example.mn\r\nTo: info@shop.mn\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${long}\r\n`;

  it('is short in the lists, and whole where somebody asks for it', async () => {
    const { service, call, page } = await openPopulated();
    await service.administration.receiveMail(Buffer.from(mail), ['info@shop.mn']);
    const { id } = await call('/email', { to: 'bat@example.mn', subject: 'Long', text: long });
    await service.administration.idle();
    for (const path of ['/inbox', '/outbox']) {
      const { html, words } = await page(path);
      expect(html.length).toBeLessThan(30_000);
      expect(words).toContain(`Ж😀… More`);
      const more = /href="\/dashboard([^"]*)">More</.exec(html)?.[1]?.replace(/&amp;/g, '&') ?? '';
      expect((await page(more)).words).toContain('the end');
    }
    expect((await page(`/messages/${id}`)).words).toContain('the end');
  });
});

describe('the inbox and the settings of email', () => {
  it('show what has come, as it was written', async () => {
    const { words } = await (await look()).page('/inbox');
    expect(words).toContain(`bat@example.mn Email · To info@shop.mn 14:59:03 ${hostile.subject} <script>`);
  });

  it('name the records of the own domain, and save the rest', async () => {
    const { page, post, cookie, service } = await openPopulated();
    const { words } = await page('/settings/email');
    expect(words).toMatch(/Own domain: shop\.mn .* SPF TXT .* DMARC TXT _dmarc\.shop\.mn/);
    const fields = { list_unsubscribe: 'https://shop.mn/out?to={to}', suppressions: 'on' };
    expect((await post('/settings/email', fields, cookie)).status).toBe(303);
    expect(await service.administration.settings.get()).toMatchObject({
      list_unsubscribe: 'https://shop.mn/out?to={to}',
      suppressions: true,
      own_domain: { domain: 'shop.mn' },
    });
    expect((await post('/settings/email', { list_unsubscribe: 'shop' }, cookie)).status).toBe(400);
    await post('/settings/email', { list_unsubscribe: '' }, cookie);
    expect(await service.administration.settings.get()).toMatchObject({
      suppressions: false,
      list_unsubscribe: null,
    });
  });
});

describe('keys', () => {
  it('are created, shown once, and revoked after a question', async () => {
    const { post, get, page, cookie, service, signIn, address } = await openPopulated();
    const callerOf = async (secret: string) =>
      (await fetch(`${address}/v1/balance`, { headers: { authorization: `Bearer ${secret}` } })).status;
    const made = await post('/keys', { label: 'shop', scope: 'sendOnly' }, cookie);
    const key = (await service.administration.listKeys()).find(({ label }) => label === 'shop');
    const location = made.headers.get('location') ?? '';
    expect([made.status, location]).toEqual([303, `/dashboard/keys?created=${key?.id}`]);
    const carried = made.headers.get('set-cookie') ?? '';
    expect(carried).toMatch(/; Path=\/dashboard\/keys; Max-Age=60; HttpOnly; SameSite=Strict$/);
    const next = location.replace('/dashboard', '');
    const both = `${cookie}; ${carried.split(';')[0]}`;
    const shown = await get(next, both);
    const secret = /urtuu_\w{40}/.exec(await shown.text())?.[0] ?? '';
    // Known, and not for reading.
    expect(await callerOf(secret)).toBe(403);
    expect(shown.headers.get('set-cookie')).toMatch(
      /_key_[0-9a-f-]{36}=; Path=\/dashboard\/keys; Max-Age=0;/,
    );
    expect(location + carried).not.toContain(secret.slice(6));
    // Loaded again, by another session and with a cookie that somebody changed.
    const others = `${await signIn()}; ${carried.split(';')[0]}`;
    for (const each of [cookie, others, `${cookie}; ${carried.split('=')[0]}=AAAA`]) {
      const answer = await get(next, each);
      expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining(secret)]);
    }
    const labels = (await service.administration.listKeys()).map(({ label }) => label);
    expect(labels.filter((label) => label === 'shop')).toHaveLength(1);
    expect(key).toMatchObject({ scope: ['send'], revoked_at: null });
    const question = await page(`/keys/${key?.id}/revoke`);
    expect(question.words).toContain(`Revoke ${key?.prefix} (shop)?`);
    const revoked = await post(`/keys/${key?.id}/revoke`, {}, cookie);
    expect(revoked.headers.get('location')).toBe('/dashboard/keys?done=revoked');
    expect((await page('/keys?done=revoked')).words).toContain('Key revoked.');
    expect((await page(`/keys/${key?.id}/revoke`)).status).toBe(404);
    expect((await post(`/keys/${key?.id}/revoke`, {}, cookie)).status).toBe(404);
  });

  it.each([
    ['sendAndRead', ['send', 'read'], 'Send, Read'],
    ['inboxOnly', ['inbox'], 'Inbox'],
    ['nothing', ['send', 'read'], 'Send, Read'],
  ])('of the scope %s may do %o, as the page says', async (chosen, scope, shown) => {
    const { post, page, cookie, service } = await openPopulated();
    await post('/keys', { label: 'shop', scope: chosen }, cookie);
    const key = (await service.administration.listKeys()).find(({ label }) => label === 'shop');
    expect(key?.scope).toEqual(scope);
    await service.administration.createKey({ label: 'two', scope: ['send', 'inbox'] });
    const { words } = await page('/keys');
    expect(words).toMatch(new RegExp(`shop ${shown} Active`));
    expect(words).toContain('two Send, Inbox Active');
  });

  it('are shown by any instance of the service', () => {
    const origin = originOf(null, 'http://127.0.0.1:7788');
    const secretsOf = (byte: number) =>
      newSecrets(origin, createEncryption(new Uint8Array(32).fill(byte), systemRandom));
    const [cookie = ''] = secretsOf(7).cookieOf('session', 'id', 'urtuu_x').split(';');
    const request = new Request('http://127.0.0.1:7788/dashboard/keys', { headers: { cookie } });
    expect(secretsOf(7).read(request, 'session', 'id')).toBe('urtuu_x');
    expect(secretsOf(8).read(request, 'session', 'id')).toBeNull();
  });

  it('are at most ten, and have a label of one line', async () => {
    const { post, cookie } = await openPopulated();
    expect(await (await post('/keys', { label: 'x'.repeat(101) }, cookie)).text()).toContain(
      'at most 100 characters',
    );
    for (let made = 1; made < 10; made += 1) await post('/keys', { label: '' }, cookie);
    const answer = await post('/keys', { label: '' }, cookie);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('has 10 active keys');
  });
});

it('an id in an address is read in capitals too', async () => {
  const { service, signIn, get } = await openDashboard();
  const { administration } = service;
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    return (
      (await (await service.fetch(`http://embedded.invalid/v1${path}`, request)).json()) as { id: string }
    ).id;
  };
  const message = await post('/email', { to: 'bat@example.mn', subject: 'Hi', html: '<p>Hi</p>' });
  const batch = await post('/sms/bulk', { to: ['88112233', '88112244'], text: 'Hi' });
  await administration.idle();
  const key = await administration.createKey({ label: 'shop' });
  const cookie = await signIn();
  for (const path of [
    `/messages/${message}`,
    `/messages/${message}/html`,
    `/messages?batch_id=${batch}`,
    `/batches/${batch}`,
    `/keys/${key.id}/revoke`,
  ]) {
    const capitals = path.replace(/[0-9a-f-]{36}/g, (id) => id.toUpperCase());
    expect(capitals).not.toBe(path);
    const texts = await Promise.all([path, capitals].map(async (each) => (await get(each, cookie)).text()));
    expect(wordsOf(texts[1] ?? '')).toBe(wordsOf(texts[0] ?? ''));
    expect(texts[1]).not.toContain('404');
  }
});

describe('settings', () => {
  it('are saved', async () => {
    const { post, page, cookie, service } = await openPopulated();
    const fields = {
      per_10_minutes: '20',
      per_24_hours: '80',
      brand_name: '',
      reply_to: ' help@example.mn ',
      start_words: ' ЭХЛЭХ, yes,, ',
    };
    const saved = await post('/settings/sending', fields, cookie);
    expect(saved.headers.get('location')).toBe('/dashboard/settings/sending?done=saved');
    expect(await service.administration.settings.get()).toMatchObject({
      caps: { per_10_minutes: 20, per_24_hours: 80 },
      brand_name: null,
      reply_to: 'help@example.mn',
      stop_words: ['STOP', 'UNSUBSCRIBE', 'ЗОГС', 'БОЛЬ'],
      start_words: ['ЭХЛЭХ', 'yes'],
    });
    expect((await page('/settings/sending?done=saved')).words).toContain('Saved.');
    await post('/settings/sending', { ...fields, stop_words: '' }, cookie);
    expect((await service.administration.settings.get()).stop_words).toEqual([]);
    await service.administration.settings.update({ stop_words: ['stop, please'] });
    await post('/settings/sending', { ...fields, stop_words: 'stop, please' }, cookie);
    expect((await service.administration.settings.get()).stop_words).toEqual(['stop, please']);
  });

  it.each([
    ['per_10_minutes', '21', /from 1 to 20/],
    ['per_24_hours', '81', /from 1 to 80/],
    ['per_24_hours', '', /from 1 to 80/],
    ['per_10_minutes', '1.5', /whole number/],
    ['reply_to', 'nobody', /must be an email address/],
    ['brand_name', 'a\nb', /one line/],
  ])('with %s %j are refused, and what was given stays', async (name, value, said) => {
    const { post, cookie, service } = await look();
    const before = await service.administration.settings.get();
    const good = {
      per_10_minutes: '7',
      per_24_hours: '30',
      brand_name: 'Given',
      reply_to: 'given@example.mn',
    };
    const answer = await post('/settings/sending', { ...good, [name]: value }, cookie);
    expect(answer.status).toBe(400);
    const html = await answer.text();
    expect(wordsOf(html)).toMatch(/Not saved/);
    expect(wordsOf(html)).toMatch(said);
    if (name !== 'brand_name') expect(html).toContain('value="Given"');
    if (/^[\d.]+$/.test(value)) expect(html).toContain(`value="${value}"`);
    expect(await service.administration.settings.get()).toEqual(before);
  });

  it('that another tab has saved stay, where this one did not change them', async () => {
    const { post, page, cookie, service } = await openPopulated();
    const { html } = await page('/settings/sending');
    const given = (name: string) =>
      (new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(html)?.[1] ?? '')
        .replace(/&amp;/g, '&')
        .replace(/&#39;/g, "'")
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>');
    const names = ['shown', 'per_10_minutes', 'per_24_hours', 'brand_name', 'reply_to'];
    const form = Object.fromEntries(names.map((name) => [name, given(name)]));
    expect((await post('/settings/sending', { ...form, per_10_minutes: '7' }, cookie)).status).toBe(303);
    expect((await post('/settings/sending', { ...form, brand_name: 'Two' }, cookie)).status).toBe(303);
    // What was refused is still a change when it is sent again.
    const refused = await post('/settings/sending', { ...form, per_24_hours: '81', reply_to: '' }, cookie);
    expect(await refused.text()).toContain(`name="shown" value="${form.shown?.replace(/&/g, '&amp;')}"`);
    expect(await service.administration.settings.get()).toMatchObject({
      caps: { per_10_minutes: 7 },
      brand_name: 'Two',
      reply_to: 'info@example.mn',
    });
  });

  it('of prices leave holidays that were added since the page was shown', async () => {
    const { signIn, service, post } = await openPopulated();
    const cookie = await signIn(undefined, { allProjects: true });
    const { settings } = service.administration;
    await settings.update(({ holidays }) => ({ holidays: { ...holidays, '2027-02-07': 2.5 } }));
    const given = { sms_part: '12', email: '3', date: '2026-12-29', multiplier: '1.5' };
    expect((await post('/settings/prices', given, cookie)).status).toBe(303);
    expect((await settings.get()).holidays).toEqual({
      '2026-12-29': 1.5,
      '2027-01-01': 2,
      '2027-02-07': 2.5,
    });
  });

  it('of prices have holidays that are added and removed', async () => {
    const { signIn, service, address } = await openPopulated();
    const cookie = await signIn(undefined, { allProjects: true });
    const save = (pairs: [string, string][]) =>
      fetch(`${address}/dashboard/settings/prices`, {
        method: 'POST',
        headers: { cookie, origin: address },
        body: new URLSearchParams([['sms_part', '12'], ['email', '3'], ...pairs]),
        redirect: 'manual',
      });
    const answer = await save([
      ['date', '2026-12-29'],
      ['multiplier', '1.5'],
      ['remove', '2026-12-29'],
      ['date', '2027-01-01'],
      ['multiplier', '2.5'],
      ['date', '2027-02-07'],
      ['multiplier', '3'],
    ]);
    expect(answer.status).toBe(303);
    expect(await service.administration.settings.get()).toMatchObject({
      prices: { sms_part: 12, email: 3 },
      holidays: { '2027-01-01': 2.5, '2027-02-07': 3 },
    });
    for (const [date, multiplier] of [
      ['2027-13-01', '2'],
      ['2027-03-08', ''],
      ['2027-03-08', '0'],
    ] as const)
      expect(
        (
          await save([
            ['date', date],
            ['multiplier', multiplier],
          ])
        ).status,
      ).toBe(400);
  });
});

it('nothing sends again what may have been sent: no page has a form that sends', async () => {
  const { ids, messages, page } = await look();
  const forms = new Set<string>();
  for (const path of [...paths, ...messages.map((id) => `/messages/${id}`), `/batches/${ids.batch}`]) {
    for (const [, action = ''] of (await page(path)).html.matchAll(/<form[^>]*action="([^"]*)"/g))
      forms.add(action);
  }
  expect([...forms].sort()).toEqual(
    ['keys', 'language', 'messages', 'settings/email', 'settings/sending', 'sign-out'].map(
      (name) => `/dashboard/${name}`,
    ),
  );
});

describe('a carrier that puts messages off', () => {
  const addresses = Array.from({ length: 6 }, (_, index) => `fault-busy@example${index}.mn`);

  it('is shown with its last answer, and with every try of a message', async () => {
    const clock = new ManualClock(start);
    const { service, get, signIn, call } = await openDashboard({ clock });
    const { id } = await call('/email', { to: 'fault-throttled@example.mn', subject: 'S', text: 'T' });
    await pass(clock, 20_000);
    await call('/email/bulk', { to: addresses, subject: 'S', text: 'T' });
    await pass(clock, 2_000);
    const other = await service.administration.createProject('Other');
    const words = async (path: string, cookie: string, language = 'en') =>
      wordsOf(await (await get(path, cookie, { 'accept-language': language })).text());

    const cookie = await signIn();
    const overview = await words('', cookie);
    expect(overview).toMatch(
      /email Connected Nothing accepted for \d s: busy This project: Nothing accepted for/,
    );
    expect(await words('', cookie, 'mn')).toMatch(/юу ч хүлээн аваагүй: busy Энэ төсөл/);
    const message = await words(`/messages/${id}`, cookie);
    expect(message).toMatch(/Accepted .*Throttled by email: throttled · 5 times .*15:00:1\d/);

    const stranger = await signIn((await service.administration.project(other.id)) ?? undefined);
    expect(await words('', stranger)).toMatch(
      /email Connected Nothing accepted for \d s: busy (?!This project)/,
    );
  });
});
