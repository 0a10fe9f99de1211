import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { FetchLike } from '../../src/client/index.js';
import { realSystem } from '../../src/client/system.js';
import { clientWith } from '../support/client.js';
import { smsMessage, smsResult } from '../support/resources.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Answers of every kind, and none. */
const ends: ((url: string) => Promise<Response>)[] = [
  async () => Response.json(smsResult()),
  async () => Response.json({ error: { code: 'unavailable' } }, { status: 503 }),
  async () => new Response('elsewhere', { status: 302, headers: { Location: 'https://a.mn/' } }),
  () => Promise.reject(new Error('reset')),
];

it('leaves nothing behind: no memory, no listener, no timer, whatever a call ends with', async () => {
  let requests = 0;
  const fetch: FetchLike = async (url) => {
    requests += 1;
    if (url.includes('/messages')) return Response.json({ data: [smsMessage(), smsMessage()], next: url });
    return (ends[requests % ends.length] as (url: string) => Promise<Response>)(url);
  };
  const onResponse = () => {
    throw new Error('a hook that fails');
  };
  const client = clientWith({ fetch, onResponse, maxRetries: 0 }, realSystem);
  const { signal } = new AbortController();
  const call = async (number: number) => {
    if (number % 5 > 0) return client.sms.send({ to: '99112233', text: 'x' }, { signal }).catch(() => {});
    // Left half-way.
    for await (const _ of client.messages.list({}, { signal })) break;
  };
  const calls = async (count: number) => {
    for (let made = 0; made < count; made += 20)
      await Promise.all(Array.from({ length: 20 }, (_, at) => call(made + at)));
  };
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const timersBefore = timers();
  await calls(2_000);
  const before = heap();
  await calls(10_000);
  expect(heap() - before).toBeLessThan(1_000_000);
  expect(requests).toBe(12_000);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(timers() - timersBefore).toBeLessThan(10);
});
