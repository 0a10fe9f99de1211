import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createService, type Delivery, type Service } from '../../src/service/index.js';
import { newSecret } from '../../src/service/operations/keys.js';
import { systemRandom } from '../../src/service/random.js';
import { testFolder } from '../support/folders.js';
import { isOnPostgres, testEngine } from '../support/test-engine.js';
import { newCustomer, type Reply } from './customer.js';

const idsOf = ({ body }: Reply) => (body.data as Delivery[]).map(({ message_id }) => message_id);
const sms = (to: string, text = 'Hello') => ({ to, text });

describe('GET /v1/outbox', () => {
  it('shows what was delivered, as the sandbox does: with texts and codes, oldest first', async () => {
    const { post, get, idle, outbox } = await newCustomer();
    await post('/verify', { to: '99112233' });
    await post('/sms', sms('88112233'));
    await post('/email', { to: 'bat@example.mn', subject: 'News', html: '<p>Hello</p>' });
    await post('/sms', sms('99000001'));
    await idle();
    const { status, body } = await get('/outbox');
    expect(status).toBe(200);
    expect(body).toEqual({ data: await outbox(), next: null });
    expect(body.data).toMatchObject([
      { to: '99112233', channel: 'sms', code: expect.stringMatching(/^\d{6}$/), subject: null },
      { to: '88112233', text: 'Hello', code: null },
      { to: 'bat@example.mn', channel: 'email', subject: 'News', html: '<p>Hello</p>' },
    ]);
  });

  it('keeps to a recipient in any spelling; without after it shows the newest', async () => {
    const { post, get, idle } = await newCustomer();
    for (const text of ['1', '2', '3']) await post('/sms', sms('9911-2233', text));
    await post('/email', { to: 'Bat@Example.mn', subject: 'News', text: 'Hello' });
    await idle();
    const texts = async (query: string) =>
      ((await get(`/outbox?${query}`)).body.data as Delivery[]).map(({ text }) => text);
    expect(await texts('to=%2B976%2099112233')).toEqual(['1', '2', '3']);
    expect(await texts('to=99112233&limit=2')).toEqual(['2', '3']);
    expect(await texts('to=bat@example.mn')).toEqual(['Hello']);
    expect(await texts('to=BAT@EXAMPLE.MN')).toEqual(['Hello']);
    expect(await texts('to=88112233')).toEqual([]);
  });

  it('after a message shows what was delivered since, page by page', async () => {
    const { post, get } = await newCustomer();
    const sent = [];
    for (const to of ['99112201', '99112202', '99112203', '99112204'])
      sent.push((await post('/sms', sms(to))).body.id);
    const [first, second, third, fourth] = sent as [string, string, string, string];
    const page = await get(`/outbox?after=${first}&limit=2`);
    expect([idsOf(page), page.body.next]).toEqual([[second, third], third]);
    const last = await get(`/outbox?after=${third.toUpperCase()}&limit=2`);
    expect([idsOf(last), last.body.next]).toEqual([[fourth], null]);
    expect(idsOf(await get(`/outbox?after=${first}&to=99112204`))).toEqual([fourth]);
    expect(idsOf(await get(`/outbox?after=${fourth}`))).toEqual([]);
    const { body } = await post('/sms', sms('99112201'));
    expect(idsOf(await get(`/outbox?after=${fourth}`))).toEqual([body.id]);
  });

  it('ends a page of large emails before it is too long to read', async () => {
    const { post, get, idle } = await newCustomer();
    const ids = [];
    for (let count = 0; count < 7; count += 1) {
      const html = `${count}`.repeat(250_000);
      ids.push((await post('/email', { to: `b${count}@example.mn`, subject: 's', html })).body.id);
      // Queued ones together would be delivered in any order.
      await idle();
    }
    expect(idsOf(await get('/outbox'))).toEqual(ids.slice(3));
    const page = await get(`/outbox?after=${ids[0]}`);
    expect([idsOf(page), page.body.next]).toEqual([ids.slice(1, 5), ids[4]]);
  });

  it('shows a project its own messages alone, however many others have', async () => {
    const { service, post, get, idle } = await newCustomer();
    const { id } = await service.administration.createProject('Other');
    const other = (await (await service.administration.project(id))?.createKey({ scope: ['inbox'] }))?.secret;
    const mine = await post('/sms', sms('99112233'));
    const to = Array.from({ length: 250 }, (_, index) => `9911${3_000 + index}`);
    const otherSender = await (await service.administration.project(id))?.createKey();
    await post('/sms/bulk', { to, text: 'Hello' }, { apiKey: otherSender?.secret ?? '' });
    await idle();
    expect(idsOf(await get('/outbox'))).toEqual([mine.body.id]);
    const theirs = await get('/outbox?limit=3', other);
    expect(theirs.body.data).toMatchObject([{ to: to[247] }, { to: to[248] }, { to: to[249] }]);
    expect(idsOf(await get('/outbox?to=99112233', other))).toEqual([]);
    expect(idsOf(await get(`/outbox?after=${mine.body.id}`))).toEqual([]);
    expect(await get(`/outbox?after=${mine.body.id}`, other)).toMatchObject({ status: 400 });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['after=x', 'after'],
    ['after=11111111-1111-4111-8111-111111111111', 'after'],
    ['to=1&to=2', 'to'],
    ['since=2026-01-01T00:00:00Z', 'since'],
  ])('with %s is 400, and says what is wrong', async (query, name) => {
    const { get } = await newCustomer();
    const { status, error } = await get(`/outbox?${query}`);
    expect([status, error?.code, error?.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(name),
    ]);
  });

  it('after a message that failed, or was erased, is 400: nothing is left out in silence', async () => {
    const { service, post, get } = await newCustomer();
    const failed = await post('/sms', sms('99000001'), { key: 'failed' });
    const [message] = (await get('/messages')).body.data as { id: string }[];
    expect([failed.status, message]).toEqual([502, expect.anything()]);
    const { body } = await post('/sms', sms('99112233'));
    await service.administration.prune({ to: '99112233' });
    for (const id of [message?.id, body.id]) expect((await get(`/outbox?after=${id}`)).status).toBe(400);
  });

  it.each([
    [['inbox'], [200, 403, 403]],
    [
      ['send', 'read'],
      [403, 200, 200],
    ],
    [['read'], [403, 200, 403]],
    [['send'], [403, 403, 200]],
    [
      ['read', 'inbox'],
      [200, 200, 403],
    ],
    [undefined, [403, 200, 200]],
  ] as const)('asks for the scope inbox and nothing else does: a key of %o', async (scope, statuses) => {
    const { service, get, post } = await newCustomer();
    const { secret } = await service.administration.createKey(scope === undefined ? {} : { scope });
    const answers = [
      await get('/outbox', secret),
      await get('/messages', secret),
      await post('/sms', sms('99112233'), { apiKey: secret }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
  });

  it('takes a token of reading', async () => {
    const { get } = await newCustomer({ rates: 'enforced' });
    const answers = [];
    for (let count = 0; count < 11; count += 1) answers.push((await get('/outbox')).status);
    expect(answers).toEqual([...Array(10).fill(200), 429]);
  });
});

/** Data for several services, and the configuration of a relay that nobody runs. */
async function sharedData() {
  const engine = await testEngine();
  const folder = testFolder();
  const opened: Service[] = [];
  const file = join(folder, 'service.json');
  const email = { smtp: 'smtp://127.0.0.1:1', from: 'a@example.mn' };
  writeFileSync(file, JSON.stringify({ sms: 'off', email }));
  onTestFinished(async () => {
    for (const service of opened) await service.close();
    engine.release();
  });
  const data = isOnPostgres() ? engine.options : { directory: join(folder, 'data') };
  return {
    relay: { configuration: { file, environment: {} } },
    async open(options = {}) {
      const service = await createService({ ...data, rates: 'off', report() {}, ...options });
      opened.push(service);
      return {
        service,
        async ask(path: string, key: string, body?: object) {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
          return (await service.fetch(`http://service.test/v1${path}`, { headers, ...init })).status;
        },
      };
    },
  };
}

describe('a sandbox key', () => {
  const sandboxKey = newSecret(systemRandom);

  it('does everything, in each process that was given it, and is not stored', async () => {
    const { open } = await sharedData();
    const places = [await open({ sandboxKey }), await open({ sandboxKey })];
    for (const { ask } of places) {
      expect(await ask('/sms', sandboxKey, sms('99112233'))).toBe(200);
      for (const path of ['/messages', '/outbox', '/balance']) expect(await ask(path, sandboxKey)).toBe(200);
      expect(await ask('/outbox', newSecret(systemRandom))).toBe(401);
    }
    const without = await open();
    expect(await without.ask('/outbox', sandboxKey)).toBe(401);
    expect(await without.service.administration.listKeys()).toEqual([]);
  });

  it('and the outbox are gone once the data is served with a carrier, for good', async () => {
    const { open, relay } = await sharedData();
    const sandbox = await open({ sandboxKey });
    const key = (scope: 'inbox' | 'read') => sandbox.service.administration.createKey({ scope: [scope] });
    const [inbox, read] = [(await key('inbox')).secret, (await key('read')).secret];
    const outbox = (place: typeof sandbox) =>
      Promise.all([sandboxKey, inbox, read].map((each) => place.ask('/outbox', each)));
    expect(await outbox(sandbox)).toEqual([200, 200, 403]);
    await expect(open({ sandboxKey, ...relay })).rejects.toMatchObject({ code: 'data_refused' });
    expect(await outbox(sandbox)).toEqual([200, 200, 403]);
    const real = await open(relay);
    for (const place of [sandbox, real, await open()]) expect(await outbox(place)).toEqual([401, 404, 404]);
    await expect(open({ sandboxKey })).rejects.toMatchObject({
      code: 'data_refused',
      hint: expect.stringContaining('URTUU_SANDBOX_KEY'),
    });
  });
});
