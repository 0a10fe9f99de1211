import { describe, expect, it } from 'vitest';
import type { FetchLike, ResponseEvent } from '../../../src/client/index.js';
import { apiKey, clientWith, FakeSystem, failureOf, resultOf } from '../../support/client.js';

const sms = { to: '99112233', text: 'x' };
const headers = { 'X-Request-Id': 'r-1', 'X-RateLimit-Limit': '40', 'X-RateLimit-Remaining': '39' };

describe('onResponse', () => {
  it('is called for every answer, retried ones too, before the call ends', async () => {
    const system = new FakeSystem();
    const events: ResponseEvent[] = [];
    let count = 0;
    const fetch: FetchLike = async (url) => {
      count += 1;
      system.time += count * 10;
      if (count === 1) throw new Error('reset');
      if (count === 2) return Response.json({ error: { code: 'unavailable' } }, { status: 503 });
      return Response.json(resultOf(url), { headers });
    };
    const client = clientWith(
      { fetch, baseUrl: 'https://a.mn/api/v1', onResponse: (event) => events.push(event) },
      system,
    );
    await client.sms.send(sms);
    expect(events).toEqual([
      {
        method: 'POST',
        path: '/api/v1/sms',
        status: 503,
        attempt: 2,
        durationMs: 20,
        requestId: null,
        rateLimit: null,
      },
      {
        method: 'POST',
        path: '/api/v1/sms',
        status: 200,
        attempt: 3,
        durationMs: 30,
        requestId: 'r-1',
        rateLimit: { limit: 40, remaining: 39 },
      },
    ]);
  });

  it('shows neither the query nor the key, and no half of a rate limit', async () => {
    const events: ResponseEvent[] = [];
    const fetch: FetchLike = async () =>
      Response.json(resultOf(''), {
        headers: {
          'X-Request-Id': `r ${apiKey}`,
          'X-RateLimit-Limit': '40',
          'X-RateLimit-Remaining': 'many',
        },
      });
    const client = clientWith({ fetch, onResponse: (event) => events.push(event) });
    await client.messages.list({ to: '99112233' });
    await client.messages.get(apiKey);
    expect(events).toMatchObject([
      { method: 'GET', path: '/v1/messages', rateLimit: null },
      { path: '/v1/messages/[API key]', requestId: 'r [API key]' },
    ]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['never resolves', () => new Promise(() => {})],
  ])('that %s changes nothing', async (_, hook) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const client = clientWith({ fetch: async () => Response.json({ balance: 1 }), onResponse: hook });
    expect(await client.balance.get()).toEqual({ balance: 1 });
    const failing = clientWith({
      fetch: async () => Response.json({ error: { code: 'not_found' } }, { status: 404 }),
      onResponse: hook,
    });
    expect((await failureOf(failing.balance.get())).code).toBe('not_found');
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it.each([null, 'x', {}])('%j is no function', (onResponse) => {
    expect(() => clientWith({ onResponse: onResponse as never })).toThrow(
      new TypeError('onResponse must be a function'),
    );
  });
});
