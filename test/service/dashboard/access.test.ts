import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/index.js';
import { openDashboard, start } from './open.js';

/** A request with any headers and any path, which `fetch` would not send. */
const requestOf = (
  url: string,
  headers: Record<string, string>,
  path?: string,
  fields?: Record<string, string>,
): Promise<{ status: number | undefined; text: string; cookie: string | undefined }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: fields === undefined ? 'GET' : 'POST', headers, ...(path === undefined ? {} : { path }) },
      async (answer) => {
        let text = '';
        for await (const piece of answer) text += piece;
        resolve({ status: answer.statusCode, text, cookie: answer.headers['set-cookie']?.[0] });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(fields === undefined ? undefined : String(new URLSearchParams(fields)));
  });

describe('a link', () => {
  it('is not used up by looking at it, and opens one session, however many use it at once', async () => {
    const { newLink, tokenOf, get, post } = await openDashboard();
    const token = tokenOf(await newLink());
    expect(Buffer.from(token.replace(/^send\./, ''), 'base64url')).toHaveLength(24);
    for (let look = 0; look < 3; look += 1) {
      const page = await get(`/sign-in?token=${token}`);
      expect(page.status).toBe(200);
      expect(page.headers.get('set-cookie')).toBeNull();
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/sign-in', { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(403)]);
    expect(answers.filter(({ headers }) => headers.has('set-cookie'))).toHaveLength(1);
  });

  it.each([
    [599_999, 303],
    [600_000, 403],
  ])('after %i ms is answered by %i', async (age, status) => {
    const clock = new ManualClock(start);
    const { newLink, tokenOf, post } = await openDashboard({ clock });
    const token = tokenOf(await newLink());
    clock.advance(age);
    expect((await post('/sign-in', { token })).status).toBe(status);
  });

  it.each(['', 'x', 'A'.repeat(32), "' OR 1=1"])('of nobody (%j) opens nothing', async (token) => {
    const { post } = await openDashboard();
    expect((await post('/sign-in', { token })).status).toBe(403);
  });
});

describe('a session', () => {
  it('has a cookie that no script reads and no other site sends', async () => {
    const { newLink, tokenOf, post } = await openDashboard();
    const answer = await post('/sign-in', { token: tokenOf(await newLink()) });
    expect(answer.headers.get('location')).toBe('/dashboard');
    expect(answer.headers.get('set-cookie')).toMatch(
      /^urtuu_session_\d+=send\.[\w-]{32}; Path=\/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
  });

  it('of a public address has a cookie for TLS only', async () => {
    const { newLink, tokenOf, address } = await openDashboard({ publicUrl: 'https://sms.example.mn' });
    const link = await newLink();
    expect(link).toMatch(/^https:\/\/sms\.example\.mn\/dashboard\/sign-in\?token=/);
    const headers = {
      host: 'sms.example.mn',
      origin: 'https://sms.example.mn',
      'content-type': 'application/x-www-form-urlencoded',
    };
    const cookieOf = async (path: string, fields: Record<string, string>) =>
      (await requestOf(`${address}/dashboard${path}`, headers, undefined, fields)).cookie;
    const attributes = /; HttpOnly; SameSite=Strict; Secure$/;
    expect(await cookieOf('/sign-in', { token: tokenOf(link) })).toMatch(attributes);
    expect(await cookieOf('/language', { language: 'mn' })).toMatch(attributes);
  });

  it('is one step away where another site leads to a page, as a mail or a chat does', async () => {
    const { signIn, get } = await openDashboard();
    const from = (site: string, cookie = '') =>
      get('/messages?to=99112233&x=<', cookie, { 'sec-fetch-site': site });
    const page = await from('cross-site');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<a href="/dashboard/messages?to=99112233&amp;x=%3C">Continue</a>');
    expect((await from('cross-site', await signIn())).status).toBe(200);
    for (const site of ['same-origin', 'same-site', 'none', '']) expect((await from(site)).status).toBe(401);
  });

  it('ends after 12 hours', async () => {
    const clock = new ManualClock(start);
    const { signIn, get } = await openDashboard({ clock });
    const cookie = await signIn();
    clock.advance(43_199_999);
    expect((await get('', cookie)).status).toBe(200);
    clock.advance(1);
    expect((await get('', cookie)).status).toBe(401);
  });

  it('ends when it signs out: the cookie is worth nothing to whoever copied it', async () => {
    const { signIn, get, post } = await openDashboard();
    const cookie = await signIn();
    const left = await post('/sign-out', {}, cookie);
    expect(left.headers.get('set-cookie')).toMatch(/^urtuu_session_\d+=; .*Max-Age=0/);
    for (const path of ['', '/keys', '/live?page=/dashboard'])
      expect((await get(path, cookie)).status).toBe(401);
    expect((await post('/keys', { label: 'stolen' }, cookie)).status).toBe(401);
  });

  it('ends when its browser signs in again', async () => {
    const { signIn, newLink, tokenOf, get, post } = await openDashboard();
    const cookie = await signIn();
    await post('/sign-in', { token: tokenOf(await newLink()) }, cookie);
    expect((await get('', cookie)).status).toBe(401);
  });

  it.each(['', 'urtuu_session=x', `urtuu_session=${'A'.repeat(32)}`])('is not made of %j', async (cookie) => {
    const { get, post, service } = await openDashboard();
    for (const path of [
      '',
      '/messages',
      '/outbox',
      '/balance',
      '/keys',
      '/settings',
      '/live?page=/dashboard',
    ]) {
      const page = await get(path, cookie);
      expect(page.status).toBe(401);
      expect(await page.text()).toContain('urtuu dashboard');
    }
    expect((await post('/settings/prices', { sms_part: '0', email: '0' }, cookie)).status).toBe(401);
    expect((await service.administration.settings.get()).prices).toEqual({ sms_part: 10, email: 2 });
  });

  it('sees its own project only', async () => {
    const { service, signIn, get, post, call } = await openDashboard();
    const { administration } = service;
    const { id } = await administration.createProject('Shop');
    const shop = await administration.project(id);
    if (shop === null) throw new Error('no shop');
    const sms = await call('/sms', { to: '88112233', text: 'Only of the first project' });
    const batch = await call('/sms/bulk', { to: ['88112244'], text: 'hi' });
    const key = await administration.createKey({ label: 'first' });
    const cookie = await signIn(shop);
    for (const path of [
      `/messages/${sms.id}`,
      `/messages/${sms.id}/html`,
      `/batches/${batch.id}`,
      `/keys/${key.id}/revoke`,
    ])
      expect((await get(path, cookie)).status).toBe(404);
    for (const path of ['', '/messages', '/batches', '/outbox', '/balance', '/keys']) {
      const text = await (await get(path, cookie)).text();
      expect(text).toContain('Shop');
      expect(text).not.toMatch(/8811\d{4}|Only of the first|urtuu_[\w]{6}/);
    }
    expect((await post(`/keys/${key.id}/revoke`, {}, cookie)).status).toBe(404);
    expect((await administration.listKeys()).at(-1)?.revoked_at).toBeNull();
  });
});

describe('a form', () => {
  it.each([
    ['no origin', { origin: '' }],
    ['an opaque origin', { origin: 'null' }],
    ['an opaque origin of a frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['an opaque origin of a neighbour', { origin: 'null', 'sec-fetch-site': 'same-site' }],
    [
      'another site, though the header says otherwise',
      { origin: 'https://example.com', 'sec-fetch-site': 'same-origin' },
    ],
    ['another site', { origin: 'https://example.com' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a subdomain', { origin: 'http://evil.localhost' }],
  ])('from %s is refused', async (_, headers) => {
    const { signIn, post, service } = await openDashboard();
    const cookie = await signIn();
    for (const path of ['/keys', '/settings/sending', '/sign-out', '/sign-in', '/language']) {
      const answer = await post(path, { label: 'theirs' }, cookie, headers);
      expect(answer.status).toBe(403);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect(await service.administration.listKeys()).toEqual([]);
  });

  it.each(['null', ''])(
    'without an origin (%j) is taken where the browser says that it is its own',
    async (origin) => {
      const { signIn, post } = await openDashboard();
      const answer = await post('/keys', { label: 'own' }, await signIn(), {
        origin,
        'sec-fetch-site': 'same-origin',
      });
      expect(answer.status).toBe(303);
    },
  );

  it.each([
    'text/plain',
    'application/json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencodedx',
  ])('of type %s is refused', async (type) => {
    const { signIn, post, service } = await openDashboard();
    const answer = await post('/keys', { label: 'theirs' }, await signIn(), { 'content-type': type });
    expect(answer.status).toBe(415);
    expect(await service.administration.listKeys()).toEqual([]);
  });

  it.each([
    ['/keys', 66_000, 413],
    ['/sign-in', 1_100_000, 413],
    ['/language', 66_000, 413],
    ['/language', 64_000, 303],
  ])('of %s with %i bytes is answered %i', async (path, length, status) => {
    const { post } = await openDashboard();
    expect((await post(path, { label: 'x'.repeat(length) })).status).toBe(status);
  });
});

describe('an address that a browser gives', () => {
  const strange = [
    'http://[',
    'javascript:/dashboard',
    'https://example.com/dashboard',
    '//example.com/dashboard',
    '\\\\example.com',
    '/v1',
  ];

  it.each(strange)('is no way back from the change of the language: %s', async (path) => {
    const faults: unknown[] = [];
    const { post } = await openDashboard({ report: (fault) => faults.push(fault) });
    const answer = await post('/language', { language: 'mn', path });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/dashboard');
    expect(faults).toEqual([]);
  });

  it.each(strange)('is no live page: %s', async (page) => {
    const faults: unknown[] = [];
    const { signIn, get } = await openDashboard({ report: (fault) => faults.push(fault) });
    const answer = await get(`/live?${new URLSearchParams({ page })}`, await signIn());
    expect(answer.status).toBe(404);
    expect(faults).toEqual([]);
  });
});

describe('the dashboard', () => {
  it.each([
    [undefined, ['127.0.0.1:PORT', 'localhost:PORT', 'LocalHost:PORT', 'localhost.:PORT', '[::1]:PORT']],
    [
      'https://sms.example.mn',
      ['sms.example.mn', 'SMS.Example.MN', 'sms.example.mn:443', 'sms.example.mn:80', 'sms.example.mn.'],
    ],
    ['https://sms.example.mn:8443', ['sms.example.mn:8443', 'SMS.example.mn:8443']],
  ])('at %s answers under its own names only, however they are written', async (publicUrl, names) => {
    const { address, service } = await openDashboard(publicUrl === undefined ? {} : { publicUrl });
    const { port } = new URL(address);
    const ask = (host: string) => requestOf(`${address}/dashboard/sign-in`, { host });
    for (const name of names) expect((await ask(name.replace('PORT', port))).status).toBe(200);
    const others = [
      'example.com',
      `example.com:${port}`,
      'localhost',
      `127.0.0.1.example.com:${port}`,
      'sms.example.mn:1',
    ];
    for (const host of others) {
      const { status, text } = await ask(host);
      expect(status).toBe(421);
      // Whoever set up the proxy sees which name it passes on.
      expect(text).toContain(`for the host "${host}"`);
    }
    // The API has always answered to every name.
    expect((await service.fetch('http://example.com/v1/openapi.json')).status).toBe(200);
  });

  it.each(['/dashboard/../v1', '/dashboard/..//example.com'])('is not at %s', async (path) => {
    const { address } = await openDashboard();
    const { port } = new URL(address);
    expect((await requestOf(`${address}/`, { host: `localhost:${port}` }, path)).status).toBe(404);
  });

  it('opens no stream for HEAD', async () => {
    const { address, signIn, get } = await openDashboard();
    const cookie = await signIn();
    const url = `${address}/dashboard/live?page=/dashboard`;
    for (let asked = 0; asked < 10; asked += 1) {
      const answer = await fetch(url, { method: 'HEAD', headers: { cookie } });
      expect(answer.headers.get('content-type')).toBe('text/event-stream');
    }
    const stream = await get('/live?page=/dashboard', cookie);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });

  it('takes no other method', async () => {
    const { address, signIn } = await openDashboard();
    const cookie = await signIn();
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect((await fetch(`${address}/dashboard/keys`, { method, headers: { cookie } })).status).toBe(405);
  });

  it('is not there unless it is served, and never inside the process', async () => {
    const { service } = await openDashboard();
    const { url, dashboard, close } = await service.listen({ port: 0 });
    expect(dashboard).toBeNull();
    const answer = await fetch(`${new URL(url).origin}/dashboard`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
    await close();
    expect((await service.fetch('http://embedded.invalid/dashboard')).status).toBe(404);
  });

  it('shares the rate of its project with the keys', async () => {
    const { service, signIn, get, post, address } = await openDashboard({ rates: 'enforced' });
    const { secret } = await service.administration.createKey();
    const cookie = await signIn();
    const read = () => fetch(`${address}/v1/balance`, { headers: { authorization: `Bearer ${secret}` } });
    for (let taken = 0; taken < 5; taken += 1) expect((await read()).status).toBe(200);
    for (let taken = 0; taken < 5; taken += 1) expect((await get('/keys', cookie)).status).toBe(200);
    expect((await read()).status).toBe(429);
    for (const path of ['/keys', '/live?page=/dashboard']) {
      const page = await get(path, cookie);
      expect(page.status).toBe(429);
      expect(page.headers.get('retry-after')).toBe('1');
      expect(await page.text()).toContain('Reload in 1 s');
    }
    // Forms are sends; neither assets nor the sign-in of strangers take any.
    for (let taken = 0; taken < 40; taken += 1) expect((await post('/nothing', {}, cookie)).status).toBe(404);
    const form = await post('/keys', { label: 'late' }, cookie);
    expect(form.status).toBe(429);
    expect(await form.text()).toContain('Nothing was changed');
    expect(await service.administration.listKeys()).toHaveLength(1);
    expect((await get('/sign-in?token=x')).status).toBe(200);
  });
});
