import { describe, expect, it } from 'vitest';
import { type Customer, newCustomer } from './customer.js';

const mail = { subject: 'News', text: 'Hello' };
const sends: [path: string, body: object][] = [
  ['/sms', { to: '99112233', text: 'Hello' }],
  ['/sms/bulk', { to: ['99112233', '88112233'], text: 'Hello' }],
  ['/email', { to: 'bat@example.mn', ...mail }],
  ['/email/bulk', { to: ['bat@example.mn', 'dorj@example.mn'], ...mail }],
];
const another = { to: '88112233', text: 'Another' };

async function isReplay(customer: Customer, path: string, body: unknown, key: string, first: object) {
  const repeat = await customer.post(path, body, { key });
  expect(repeat.body).toEqual(first);
  expect(repeat.headers.get('idempotency-replayed')).toBe('true');
}

describe('Idempotency', () => {
  it.each(sends)('[Idempotency 1] [Idempotency 3] a repeat of %s sends nothing new', async (path, body) => {
    const customer = await newCustomer();
    const first = await customer.post(path, body, { key: 'k' });
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    await customer.idle();
    const balance = await customer.balance();
    const outbox = await customer.outbox();
    await isReplay(customer, path, body, 'k', first.body);
    // Another body and another endpoint too: the key belongs to the first.
    await isReplay(customer, path, { ...body, text: 'Other' }, 'k', first.body);
    await isReplay(customer, path, { nonsense: true }, 'k', first.body);
    for (const [other, otherBody] of sends) await isReplay(customer, other, otherBody, 'k', first.body);
    await customer.idle();
    expect(await customer.balance()).toBe(balance);
    expect(await customer.outbox()).toEqual(outbox);
  });

  it.each(sends)('[Idempotency 1] 50 repeats of %s at once get one answer', async (path, body) => {
    const customer = await newCustomer();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => customer.post(path, body, { key: 'k' })),
    );
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body))).size).toBe(1);
    expect(replies.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
    await customer.idle();
    expect(await customer.outbox()).toHaveLength(path.endsWith('bulk') ? 2 : 1);
  });

  it.each([
    ['~', 200],
    ['a b', 200],
    ['x'.repeat(255), 200],
    ['x'.repeat(256), 400],
    ['', 400],
    ['a\tb', 400],
    ['ÿ', 400],
  ])('[Idempotency 2] case %#: a key is 1 to 255 printable ASCII characters', async (key, status) => {
    const { post } = await newCustomer();
    expect((await post('/sms', another, { key })).status).toBe(status);
  });

  it('[Idempotency 2] a key is unique in its project, whichever API key is used', async () => {
    const customer = await newCustomer();
    const { administration } = customer.service;
    const { secret } = await administration.createKey();
    const { id } = await administration.createProject('Other');
    const other = await (await administration.project(id))?.createKey();
    const first = await customer.post('/sms', another, { key: 'k' });
    const sameProject = await customer.post('/sms', another, { key: 'k', apiKey: secret });
    const otherProject = await customer.post('/sms', another, { key: 'k', apiKey: other?.secret ?? '' });
    expect(sameProject.body).toEqual(first.body);
    expect(otherProject.status).toBe(200);
    expect(otherProject.body.id).not.toBe(first.body.id);
    expect(otherProject.headers.get('idempotency-replayed')).toBeNull();
  });

  it('[Idempotency 3] keys mean nothing to verifications', async () => {
    const { post } = await newCustomer();
    const create = () => post('/verify', { to: '99112233' }, { key: 'k' });
    const first = await create();
    const second = await create();
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('[Idempotency 4] a repeat of a failed send reports that failure; a new key sends anew', async () => {
    const customer = await newCustomer();
    const send = (key: string) => customer.post('/sms', { to: '99000001', text: 'Hello' }, { key });
    const first = await send('k');
    const repeat = await send('k');
    const fresh = await send('l');
    expect([first.status, repeat.status, fresh.status]).toEqual([502, 502, 502]);
    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(fresh.error?.id).not.toBe(first.error?.id);
    expect(await customer.balance()).toBe(100_000);
  });

  it.each([...sends, ['/email', { to: 'fault-refused@example.mn', ...mail }] as const])(
    '[Idempotency 1] a repeat of %s is the first answer byte for byte, whatever became of the message %#',
    async (path, body) => {
      const { service, idle, get } = await newCustomer({ settings: { holidays: { '2026-03-02': 1.1 } } });
      const ask = async () => {
        const response = await service.fetch(`http://service.test/v1${path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${service.localKey}`,
            'content-type': 'application/json',
            'idempotency-key': 'k',
          },
          body: JSON.stringify(body),
        });
        return { status: response.status, text: await response.text() };
      };
      const first = await ask();
      await idle();
      await service.administration.credit(-500);
      expect(await ask()).toEqual(first);
      const { id } = JSON.parse(first.text) as { id: string };
      const { status } = (await get(`/${path.endsWith('bulk') ? 'batches' : 'messages'}/${id}`)).body;
      expect(status).toMatch(/^(sent|failed|completed)$/);
    },
  );

  it('[Idempotency 1] a refusal binds nothing: the key sends once the reason is gone', async () => {
    const customer = await newCustomer();
    const { administration } = customer.service;
    const send = (body: object, apiKey?: string) =>
      customer.post('/sms', body, { key: 'k', ...(apiKey === undefined ? {} : { apiKey }) });
    expect((await send(another, 'urtuu_nobody')).status).toBe(401);
    expect((await send({ to: 'Bat', text: 'x' })).status).toBe(400);
    expect((await send({ to: '11112233', text: 'x' })).status).toBe(422);
    await administration.credit(-100_000);
    expect((await send(another)).status).toBe(402);
    await administration.credit(1_000);
    for (let sent = 0; sent < 5; sent += 1) await customer.post('/sms', another);
    expect((await send(another)).status).toBe(429);
    customer.clock.advance(600_000);
    const sent = await send(another);
    expect(sent.status).toBe(200);
    expect(sent.headers.get('idempotency-replayed')).toBeNull();
  });

  it('[Idempotency 1] keys do not expire', async () => {
    const customer = await newCustomer();
    const first = await customer.post('/sms', another, { key: 'k' });
    customer.clock.advance(10 * 365 * 86_400_000);
    await isReplay(customer, '/sms', another, 'k', first.body);
  });
});
