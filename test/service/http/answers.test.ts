import { describe, expect, it } from 'vitest';
import { serviceErrors } from '../../../src/contract/index.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import type { Operations } from '../../../src/service/operations/operations.js';
import { fakeOperations, type Given, ids, type Overrides, openApp, request } from './fake-operations.js';

function ask(path: string, given?: Given, overrides?: Overrides): Promise<Response> {
  return openApp(fakeOperations(overrides).operations).fetch(request(path, given));
}
const refusing = (error: unknown): Partial<Operations> => ({
  getBalance: async () => {
    throw error;
  },
});

describe('what a request is answered with', () => {
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

describe('errors', () => {
  it.each(Object.entries(serviceErrors))('%s has its status and the envelope', async (code, { status }) => {
    const error = new ServiceError(code as keyof typeof serviceErrors, 'because');
    const response = await ask('/v1/balance', {}, refusing(error));
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { code, message: 'because' } });
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
});

describe('routes', () => {
  it.each([
    '/v2/sms',
    '/v1/Balance',
    '/v1/balance%00',
    '/v1/messages/%2e%2e%2fbalance',
    '/v1/messages/%E0%A4%A',
    '/v1/messages/1',
    `/v1/messages/${ids.message.toUpperCase()}x`,
    '/v1/messages/AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA',
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
    [`batches/${ids.batch}/messages?limit=0`, 'limit: must be a whole number from 1 to 1000'],
    [`batches/${ids.batch}/messages?limit=1001`, 'limit: must be a whole number from 1 to 1000'],
    [`batches/${ids.batch}/messages?limit=`, 'limit: must be a whole number from 1 to 1000'],
    [`batches/${ids.batch}/messages?limit=1e2`, 'limit: must be a whole number from 1 to 1000'],
    [`batches/${ids.batch}/messages?limit=%2010`, 'limit: must be a whole number from 1 to 1000'],
    [`batches/${ids.batch}/messages?limit=010`, 'limit: must be a whole number from 1 to 1000'],
    [
      `batches/${ids.batch}/messages?limit=99999999999999999999`,
      'limit: must be a whole number from 1 to 1000',
    ],
    [`batches/${ids.batch}/messages?after=x`, 'after: must be the next of an earlier page'],
    [`batches/${ids.batch}/messages?limit=1&limit=2`, 'limit: appears twice in the query'],
    [`batches/${ids.batch}/messages?page=2`, 'page: is not a known field'],
    [`batches/${ids.batch}/messages?__proto__=2`, '__proto__: is not a known field'],
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

  it.each(['limit=1', 'limit=1000', `after=${ids.message}`])('%s is taken', async (query) => {
    expect((await ask(`/v1/batches/${ids.batch}/messages?${query}`)).status).toBe(200);
  });
});
