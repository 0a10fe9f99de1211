import { describe, expect, it } from 'vitest';
import type { Urtuu } from '../../src/client/index.js';
import { apiKey, clientWith, resultOf } from '../support/client.js';
import { json, Loopback } from '../support/loopback.js';

const sms = { to: '99112233', text: 'Сайн уу' };
const email = { to: 'a@b.mn', subject: 'Сайн уу', text: 'x' };

const methods: [string, (client: Urtuu) => Promise<unknown>, string, string, object | null][] = [
  ['sms.send', (c) => c.sms.send(sms), 'POST', '/v1/sms', sms],
  [
    'sms.sendBulk',
    (c) => c.sms.sendBulk({ to: ['99112233', '88112233'], text: 'x' }),
    'POST',
    '/v1/sms/bulk',
    { to: ['99112233', '88112233'], text: 'x' },
  ],
  ['email.send', (c) => c.email.send(email), 'POST', '/v1/email', email],
  [
    'email.sendBulk',
    (c) => c.email.sendBulk({ ...email, to: ['a@b.mn'] }),
    'POST',
    '/v1/email/bulk',
    { ...email, to: ['a@b.mn'] },
  ],
  ['verify.create', (c) => c.verify.create({ to: '99112233' }), 'POST', '/v1/verify', { to: '99112233' }],
  [
    'verify.check',
    (c) => c.verify.check('v 1', { code: '123456' }),
    'POST',
    '/v1/verify/v%201/check',
    { code: '123456' },
  ],
  ['verify.get', (c) => c.verify.get('v1'), 'GET', '/v1/verify/v1', null],
  ['messages.get', (c) => c.messages.get('../balance?x#y'), 'GET', '/v1/messages/..%2Fbalance%3Fx%23y', null],
  ['batches.get', (c) => c.batches.get('%2e%2e'), 'GET', '/v1/batches/%252e%252e', null],
  ['batches.messages', (c) => c.batches.messages('b'), 'GET', '/v1/batches/b/messages', null],
  [
    'batches.messages with a page',
    (c) => c.batches.messages('b', { limit: 7, after: 'm&1' }),
    'GET',
    '/v1/batches/b/messages?limit=7&after=m%261',
    null,
  ],
  [
    'messages.list',
    (c) => c.messages.list({ status: 'failed', limit: 7 }),
    'GET',
    '/v1/messages?status=failed&limit=7',
    null,
  ],
  ['batches.list', (c) => c.batches.list(), 'GET', '/v1/batches', null],
  [
    'inbox.list',
    (c) => c.inbox.list({ channel: 'sms', since: '2026-11-21T08:00:00Z', after: 'm' }),
    'GET',
    '/v1/inbox?channel=sms&since=2026-11-21T08%3A00%3A00Z&after=m',
    null,
  ],
  ['events.list', (c) => c.events.list(), 'GET', '/v1/events', null],
  [
    'events.list with a query',
    (c) => c.events.list({ after: 'a-1', types: ['message.sent', 'message.failed'], limit: 7, wait: 20 }),
    'GET',
    '/v1/events?after=a-1&limit=7&wait=20&types=message.sent%2Cmessage.failed',
    null,
  ],
  ['balance.get', (c) => c.balance.get(), 'GET', '/v1/balance', null],
  ['pricing.get', (c) => c.pricing.get(), 'GET', '/v1/pricing', null],
  [
    'suppressions.check',
    (c) => c.suppressions.check({ to: ['99112233'] }),
    'POST',
    '/v1/suppressions/check',
    { to: ['99112233'] },
  ],
];

describe('methods (Official Node.js client)', () => {
  it.each(methods)('%s asks its endpoint and gives its answer', async (name, call, method, path, body) => {
    const answer = { ...resultOf(path), more: [1, 'өртөө'] };
    await using server = await Loopback.listen((_, response) => json(response, 200, answer));
    const client = clientWith({ baseUrl: `${server.origin}/v1` });

    expect(await call(client)).toEqual(answer);

    const [request] = server.requests;
    expect(server.requests).toHaveLength(1);
    expect(request).toMatchObject({ method, path, headers: { authorization: `Bearer ${apiKey}` } });
    expect(request?.body).toBe(body === null ? '' : JSON.stringify(body));
    expect(request?.headers['content-type']).toBe(body === null ? undefined : 'application/json');
    const isSend = /^(sms|email)\./.test(name);
    expect(request?.headers['idempotency-key']).toBe(isSend ? 'key-1' : undefined);
  });

  it.each([200, 201, 202, 206, 299])('takes HTTP %d for a success', async (status) => {
    await using server = await Loopback.listen((_, response) => json(response, status, { balance: 1 }));
    expect(await clientWith({ baseUrl: `${server.origin}/v1` }).balance.get()).toEqual({ balance: 1 });
  });

  it('sends the key of the caller', async () => {
    await using server = await Loopback.listen(({ path }, response) => json(response, 200, resultOf(path)));
    const client = clientWith({ baseUrl: `${server.origin}/v1` });
    const options = { idempotencyKey: 'order 17' };
    await client.sms.send(sms, options);
    await client.sms.sendBulk({ ...sms, to: [sms.to] }, options);
    await client.email.send(email, options);
    await client.email.sendBulk({ ...email, to: [email.to] }, options);
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array(4).fill('order 17'),
    );
  });
});
