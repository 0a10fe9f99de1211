import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/service/http/app.js';
import { exchangeWith } from '../../../src/service/http/in-process.js';
import { ConnectionDropped } from '../../../src/service/http/inject-fault.js';
import type { PlainRequest } from '../../../src/service/index.js';
import { fakeOperations, goodKey, ids } from './fake-operations.js';

const headers = { AUTHORIZATION: `Bearer ${goodKey}`, 'content-type': 'application/json' };
const post = (path: string, body: string, more = {}): PlainRequest => ({
  method: 'POST',
  url: `http://sandbox${path}`,
  headers: { ...headers, ...more },
  body,
});
const get = (path: string, given: PlainRequest['headers'] = headers): PlainRequest => ({
  method: 'GET',
  url: `http://sandbox${path}`,
  headers: given,
});
const sms = JSON.stringify({ to: '99112233', text: 'Сайн уу' });

const requests: Record<string, PlainRequest> = {
  'a send': post('/v1/sms', sms),
  'a send with its key': post('/v1/sms', sms, { 'Idempotency-Key': 'order-17' }),
  'a body of 1,000,000 bytes': post('/v1/sms', sms.padEnd(1_000_000 - 6)),
  'a body over 1,000,000 bytes': post('/v1/sms', sms.padEnd(1_000_000)),
  'a length that is claimed': post('/v1/sms', sms, { 'Content-Length': '1000001' }),
  'a body that is no JSON': post('/v1/sms', '{'),
  'no body': { ...get('/v1/sms'), method: 'POST' },
  'another media type': post('/v1/sms', sms, { 'content-type': 'text/plain' }),
  'a list': get(`/v1/batches/${ids.batch}/messages?limit=7`),
  'a look-up of nothing': get('/v1/messages/nothing'),
  'no key': get('/v1/balance', {}),
  'an unknown path': get('/v1/nothing'),
  'another method': { ...get('/v1/balance'), method: 'DELETE' },
  'the description of the interface': get('/v1/openapi.json'),
};

describe('a request without web objects', () => {
  it.each(Object.entries(requests))('%s is answered as a web Request is', async (_, asked) => {
    const app = () => createApp(fakeOperations().operations, { newRequestId: () => 'one' });
    const { url, method, body = null } = asked;
    const answer = await exchangeWith(app())(asked);
    const response = await app().fetch(new Request(url, { method, headers: asked.headers, body }));
    expect(answer.status).toBe(response.status);
    expect(answer.body).toBe(await response.text());
    expect(Object.fromEntries(new Headers(answer.headers))).toEqual(Object.fromEntries(response.headers));
  });

  it('is rejected where its connection is dropped on demand', async () => {
    const app = createApp(fakeOperations().operations, { faultFor: () => 'drop_after' });
    await expect(exchangeWith(app)(post('/v1/sms', sms))).rejects.toThrow(ConnectionDropped);
  });
});
