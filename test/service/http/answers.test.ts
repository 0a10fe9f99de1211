import { describe, expect, it } from 'vitest';
import { serviceErrors } from '../../../src/contract/index.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import type { Operations } from '../../../src/service/operations/operations.js';
import {
  batch,
  email,
  fakeOperations,
  type Given,
  ids,
  type Overrides,
  openApp,
  request,
  sms,
  verification,
} from './fake-operations.js';

function ask(path: string, given?: Given, overrides?: Overrides): Promise<Response> {
  return openApp(fakeOperations(overrides).operations).fetch(request(path, given));
}
const refusing = (error: unknown): Partial<Operations> => ({
  getBalance: async () => {
    throw error;
  },
});
const mail = { to: 'bat@example.mn', subject: 's', text: 't' };

describe('what a request is answered with', () => {
  it.each<[string, unknown, number, object]>([
    ['/v1/sms', { to: '99112233', text: 'x' }, 200, sms],
    ['/v1/sms/bulk', { to: ['99112233'], text: 'x' }, 202, batch],
    ['/v1/email', mail, 202, email],
    ['/v1/email/bulk', { ...mail, to: [mail.to] }, 202, { ...batch, channel: 'email' }],
    ['/v1/verify', { to: '99112233' }, 201, { ...verification, balance: 990 }],
    [`/v1/verify/${ids.verification}/check`, { code: '123456' }, 200, verification],
  ])('POST %s', async (path, body, status, expected) => {
    const response = await ask(path, { body });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(expected);
  });

  it.each([
    `/v1/messages/${ids.message}`,
    `/v1/batches/${ids.batch}`,
    `/v1/batches/${ids.batch}/messages`,
    `/v1/verify/${ids.verification}`,
    '/v1/balance',
    '/v1/pricing',
    '/v1/openapi.json',
    '/v1/balance?unknown=1&unknown=2',
  ])('GET %s is 200', async (path) => {
    expect((await ask(path)).status).toBe(200);
  });

  it('hands each operation the caller and what was asked', async () => {
    const { operations, calls } = fakeOperations();
    const app = openApp(operations);
    await app.fetch(request('/v1/sms', { body: { to: '9911-2233', text: 'x' } }));
    await app.fetch(request(`/v1/batches/${ids.batch}/messages?limit=7&after=${ids.message}`));
    await app.fetch(request(`/v1/batches/${ids.batch}/messages`));
    await app.fetch(request(`/v1/verify/${ids.verification}/check`, { body: { code: '123' } }));
    expect(calls).toEqual([
      ['sendSms', { to: '9911-2233', text: 'x' }, null],
      ['listBatchMessages', ids.batch, { limit: 7, after: ids.message }],
      ['listBatchMessages', ids.batch, { limit: 100, after: null }],
      ['checkVerification', ids.verification, { code: '123' }],
    ]);
  });
});

describe('every answer', () => {
  const cases: [string, string, Given | undefined, Partial<Operations> | undefined, string, string][] = [
    ['a read', '/v1/balance', undefined, undefined, '10', '9'],
    ['a send', '/v1/sms', { body: { to: '99112233', text: 'x' } }, undefined, '40', '39'],
    ['bad fields', '/v1/sms', { body: {} }, undefined, '40', '39'],
    ['no key, reading', '/v1/balance', { headers: { authorization: null } }, undefined, '10', '10'],
    [
      'no key, sending',
      '/v1/sms',
      { body: {}, headers: { authorization: 'Bearer x' } },
      undefined,
      '40',
      '40',
    ],
    ['no route', '/nowhere', undefined, undefined, '10', '10'],
    ['no route under /v1', '/v1/nowhere', undefined, undefined, '10', '9'],
    ['a wrong method', '/v1/sms', undefined, undefined, '10', '9'],
    ['the description', '/v1/openapi.json', undefined, undefined, '10', '10'],
    ['a fault inside', '/v1/balance', undefined, refusing(new Error('disk')), '10', '9'],
  ];
  it.each(cases)(
    'to %s carries an id, the allowance and JSON',
    async (_name, path, given, overrides, limit, left) => {
      const response = await ask(path, given, overrides);
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
      expect(response.headers.get('x-ratelimit-limit')).toBe(limit);
      expect(response.headers.get('x-ratelimit-remaining')).toBe(left);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toBeTypeOf('object');
    },
  );

  it('over the rate says when to come back', async () => {
    const rateLimit = { allowed: false, limit: 10, remaining: 0, retryAfter: 3 };
    const response = await ask('/v1/balance', {}, { rateLimit });
    expect(response.status).toBe(429);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '3',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
    });
  });
});

describe('errors', () => {
  it.each(Object.entries(serviceErrors))('%s has its status and the envelope', async (code, { status }) => {
    const error = new ServiceError(code as keyof typeof serviceErrors, 'because');
    const response = await ask('/v1/balance', {}, refusing(error));
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { code, message: 'because' } });
  });

  it('carry the fields of their code', async () => {
    const error = new ServiceError('insufficient_credits', 'x', { fields: { balance: 3, required: 10 } });
    const response = await ask('/v1/balance', {}, refusing(error));
    expect(await response.json()).toEqual({
      error: { code: 'insufficient_credits', message: 'x', balance: 3, required: 10 },
    });
  });

  it.each([
    [0.2, '1'],
    [61.5, '62'],
  ])('say Retry-After in whole seconds: %d', async (retryAfter, header) => {
    const error = new ServiceError('recipient_rate_limited', 'x', { retryAfter });
    expect((await ask('/v1/balance', {}, refusing(error))).headers.get('retry-after')).toBe(header);
  });

  it.each([new Error('SECRET at /var/lib'), Object.assign(new TypeError('SECRET'), { status: 418 })])(
    'inside are reported, and the caller learns nothing of them',
    async (inner) => {
      const reports: unknown[] = [];
      const app = openApp(fakeOperations(refusing(inner)).operations, {
        report: (...report) => reports.push(report),
      });
      const response = await app.fetch(request('/v1/balance'));
      const body = await response.text();
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(JSON.parse(body).error.code).toBe('unavailable');
      expect(body).not.toContain('SECRET');
      expect(reports).toEqual([[inner, response.headers.get('x-request-id')]]);
    },
  );
});

describe('Authentication, 1', () => {
  const key = `urtuu_${'k'.repeat(40)}`;
  it.each([`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`])('takes %s', async (authorization) => {
    expect((await ask('/v1/balance', { headers: { authorization } })).status).toBe(200);
  });

  it.each([
    null,
    '',
    key,
    'Bearer',
    'Bearer ',
    `Bearer  ${key}`,
    `Bearer ${key} x`,
    `Basic ${key}`,
    `Bearer ${key}, Bearer ${key}`,
    'Bearer é',
    `Bearer ${'k'.repeat(10_000)}`,
  ])('has one answer for %j', async (authorization) => {
    const response = await ask('/v1/balance', { headers: { authorization } });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toEqual({
      error: { code: 'unauthorized', message: 'A valid API key is required' },
    });
  });

  it.each(['/v1', '/v1/nowhere', '/v1/sms', '/v1/messages/x'])(
    'is asked for first, on %s too',
    async (path) => {
      expect((await ask(path, { headers: { authorization: null } })).status).toBe(401);
    },
  );
});

describe('routes', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v2/sms',
    '/V1/balance',
    '/v1/Balance',
    '/v1/balance/',
    '/v1//balance',
    '/v1/%62alance',
    '/v1/balance%00',
    '/v1/messages/',
    '/v1/messages/..',
    '/v1/messages/%2e%2e%2fbalance',
    '/v1/messages/%',
    '/v1/messages/%E0%A4%A',
    '/v1/messages/1',
    `/v1/messages/${ids.message.toUpperCase()}x`,
    '/v1/messages/AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA',
    `/v1/messages/${ids.message}/`,
    `/v1/messages/${ids.batch}`,
    `/v1/batches/${ids.message}/messages`,
    '/v1/__proto__',
    '/v1/messages/__proto__',
  ])('%s is not found', async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('ask no operation about an id that nothing can have', async () => {
    const { operations, calls } = fakeOperations();
    await openApp(operations).fetch(request("/v1/messages/1'--"));
    expect(calls).toEqual([]);
  });

  it.each([
    ['GET', '/v1/sms', 'POST'],
    ['HEAD', '/v1/sms', 'POST'],
    ['OPTIONS', '/v1/sms', 'POST'],
    ['DELETE', '/v1/email/bulk', 'POST'],
    ['PROPFIND', '/v1/sms', 'POST'],
    ['POST', '/v1/balance', 'GET, HEAD'],
    ['OPTIONS', '/v1/pricing', 'GET, HEAD'],
    ['PUT', `/v1/verify/${ids.verification}`, 'GET, HEAD'],
    ['GET', `/v1/verify/${ids.verification}/check`, 'POST'],
    ['POST', '/v1/openapi.json', 'GET, HEAD'],
  ])('%s %s: method_not_allowed, with Allow', async (method, path, allow) => {
    const response = await ask(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD')
      expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  it('HEAD is GET without the body', async () => {
    const response = await ask('/v1/balance', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ratelimit-limit')).toBe('10');
    expect(await response.text()).toBe('');
  });
});

describe('the query of a list', () => {
  const time = 'must be an ISO 8601 time, such as 2026-11-21T08:00:00Z';
  it.each([
    ['messages?channel=fax', 'channel: must be "sms" or "email"'],
    ['messages?status=completed', 'status: must be "queued" or "sent" or "failed"'],
    ['messages?delivery=null', 'delivery: must be "delivered" or "undelivered" or "bounced" or "unknown"'],
    ['messages?batch_id=1', 'batch_id: must be the id of a batch'],
    ['messages?since=2h', `since: ${time}`],
    ['messages?since=2026-11-21', `since: ${time}`],
    ['messages?until=2026-02-30T00:00:00Z', `until: ${time}`],
    ['messages?until=2026-11-21T08:00:00', `until: ${time}`],
    ['messages?to=%00', 'to: must not contain a NUL character'],
    ['messages?to=1&to=1', 'to: appears twice in the query'],
    ['messages?limit=0', 'limit: must be a whole number from 1 to 1000'],
    ['messages?TO=1', 'TO: is not a known field'],
    ['batches?status=sent', 'status: must be "processing" or "completed"'],
    ['batches?to=99112233', 'to: is not a known field'],
    ['batches?after=x', 'after: must be the next of an earlier page'],
  ])('%s is refused', async (query, message) => {
    const response = await ask(`/v1/${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: { code: 'invalid_request', message } });
  });

  it('reaches the operation as it was written', async () => {
    const { operations, calls } = fakeOperations();
    const app = openApp(operations);
    const since = '2026-11-21T16:00:00.5+08:00';
    await app.fetch(request(`/v1/messages?to=9911%2B2233&since=${encodeURIComponent(since)}&limit=7`));
    await app.fetch(request(`/v1/batches?status=completed&after=${ids.batch}`));
    expect(calls).toEqual([
      ['listMessages', { to: '9911+2233', since }, { limit: 7, after: null }],
      ['listBatches', { status: 'completed' }, { limit: 100, after: ids.batch }],
    ]);
  });
});

describe('the query of GET /v1/batches/{id}/messages', () => {
  it.each([
    ['limit=0', 'limit: must be a whole number from 1 to 1000'],
    ['limit=1001', 'limit: must be a whole number from 1 to 1000'],
    ['limit=', 'limit: must be a whole number from 1 to 1000'],
    ['limit=1e2', 'limit: must be a whole number from 1 to 1000'],
    ['limit=%2010', 'limit: must be a whole number from 1 to 1000'],
    ['limit=010', 'limit: must be a whole number from 1 to 1000'],
    ['limit=99999999999999999999', 'limit: must be a whole number from 1 to 1000'],
    ['after=x', 'after: must be the next of an earlier page'],
    ['limit=1&limit=2', 'limit: appears twice in the query'],
    ['page=2', 'page: is not a known field'],
    ['__proto__=2', '__proto__: is not a known field'],
  ])('%s is refused', async (query, message) => {
    const response = await ask(`/v1/batches/${ids.batch}/messages?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: { code: 'invalid_request', message } });
  });

  it.each(['limit=1', 'limit=1000', `after=${ids.message}`])('%s is taken', async (query) => {
    expect((await ask(`/v1/batches/${ids.batch}/messages?${query}`)).status).toBe(200);
  });
});
