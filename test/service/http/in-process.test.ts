import { describe, expect, it } from 'vitest';
import { ConnectionDropped } from '../../../src/service/http/inject-fault.js';
import { fakeOperations, goodKey, openApp } from './fake-operations.js';

const headers = { AUTHORIZATION: `Bearer ${goodKey}`, 'content-type': 'application/json' };
const sms = JSON.stringify({ to: '99112233', text: 'Сайн уу' });
const post = (body: string, more = {}) => ({
  method: 'POST',
  url: 'http://sandbox/v1/sms',
  headers: { ...headers, ...more },
  body,
});

// What else it answers stands in wire.test.ts.
describe('a request without web objects', () => {
  it.each([
    ['a body of 1,000,000 bytes', post(sms.padEnd(1_000_000 - 6)), 200],
    ['a body over 1,000,000 bytes', post(sms.padEnd(1_000_000)), 413],
    ['a length that is claimed', post(sms, { 'Content-Length': '1000001' }), 413],
  ])('%s is answered as a web Request is', async (_, asked, status) => {
    const app = () => openApp(fakeOperations().operations, { newRequestId: () => 'one' });
    const answer = await app().exchange(asked);
    const response = await app().fetch(new Request(asked.url, asked));
    expect([answer.status, response.status]).toEqual([status, status]);
    expect(answer.body).toBe(await response.text());
    expect(Object.fromEntries(new Headers(answer.headers))).toEqual(Object.fromEntries(response.headers));
  });

  it('is rejected where its connection is dropped on demand', async () => {
    const { exchange } = openApp(fakeOperations().operations, { faultFor: () => 'drop_after' });
    await expect(exchange(post(sms))).rejects.toThrow(ConnectionDropped);
  });
});
