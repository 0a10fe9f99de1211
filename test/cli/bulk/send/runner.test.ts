import { describe, expect, it } from 'vitest';
import type { SendingClient } from '../../../../src/cli/bulk/send/send-once.js';
import { countsWith } from '../counts.js';
import { memoryPlan, numbers } from '../memory-plan.js';
import { clientOf, Refused } from '../model-service.js';
import { setting } from '../run-in.js';

describe('a run', () => {
  it('sends everything once and says so', async () => {
    const { run, service } = setting();
    const { ending, counts, state } = await run();
    expect(ending.stopped).toBeNull();
    expect(counts).toEqual(countsWith({ sent: 4, queued: 3 }));
    expect(service.accepted.size).toBe(7);
    expect(state.credits).toBe(70);
    expect(state.balance).toBe(100_000 - 70);
  });

  it('sends nothing when everything is resolved already', async () => {
    const { run, service } = setting();
    await run();
    const before = service.keys.length;
    expect((await run()).counts.accepted).toBe(7);
    expect(service.keys.length).toBe(before);
  });

  it('takes 120 refused numbers out of 1,000, fifty at a time, and sends the other 880', async () => {
    const all = numbers(1_000);
    const unsupported = new Set(all.filter((_, index) => index % 8 === 3).slice(0, 120));
    const { run, service } = setting({ unsupported }, memoryPlan([{ to: all, text: 'x' }]));
    const { counts, state } = await run();
    expect(counts).toEqual(countsWith({ queued: 880, rejected: 120 }));
    expect([...unsupported].filter((each) => service.accepted.has(each))).toEqual([]);
    expect([...state.removed(0).keys()].map((index) => all[index])).toEqual([...unsupported]);
    expect(new Set(service.keys).size).toBe(4);
  });

  it('stops at insufficient_credits, and goes on with the same keys after a top-up', async () => {
    for (const binding of [false, true]) {
      const { run, service } = setting({ binding, credits: 45 });
      const first = await run();
      expect(first.ending.stopped).toEqual({ by: 'service', code: 'insufficient_credits', status: 402 });
      expect(first.counts).toMatchObject({ in_doubt: 0 });
      expect(first.counts.pending).toBeGreaterThan(0);
      service.balance += 1_000;
      const second = await run();
      expect(second.ending.stopped).toBeNull();
      expect(second.counts).toEqual(countsWith({ sent: 4, queued: 3 }));
      expect([...service.accepted.values()].every((times) => times === 1)).toBe(true);
    }
  });

  it('stops at unauthorized, with nothing in doubt', async () => {
    const { run, service } = setting();
    const refusing = clientOf(service, () => Promise.reject(new Refused('unauthorized', 401)));
    const { ending, counts } = await run(refusing);
    expect(ending.stopped).toEqual({ by: 'service', code: 'unauthorized', status: 401 });
    expect(counts).toEqual(countsWith({ pending: 7 }));
  });

  it('waits as long as rate_limited says, up to maxWait', async () => {
    const { run, service, clock } = setting();
    let first = true;
    const limited = clientOf(service, async (call) => {
      if (!first) return call();
      first = false;
      throw new Refused('rate_limited', 429, { retryAfter: 30 });
    });
    const { ending } = await run(limited);
    expect(ending.stopped).toBeNull();
    const before = clock.time;
    const always = () => Promise.reject(new Refused('rate_limited', 429, { retryAfter: 601 }));
    const other = setting();
    const given = await other.run(clientOf(other.service, always));
    expect(given.ending.stopped).toMatchObject({ code: 'rate_limited' });
    expect(given.counts).toMatchObject({ pending: 7, in_doubt: 0 });
    expect(clock.time).toBe(before);
  });

  it('sets capped singles aside, goes on with the others, and comes back', async () => {
    const capped = new Map([['99000010', 2]]);
    const { run, service, clock } = setting({ capped });
    const start = clock.time;
    const { counts } = await run();
    expect(counts.accepted).toBe(7);
    expect(clock.time - start).toBe(40_000);
    expect([...service.accepted.keys()].at(-1)).toBe('99000010');
  });

  it('leaves a capped single pending when its wait is over maxWait', async () => {
    const { run } = setting({ capped: new Map([['99000010', 9]]) });
    const { ending, counts, state } = await run(undefined, { maxWait: 10_000 });
    expect(ending.stopped).toBeNull();
    expect(counts).toMatchObject({ accepted: 6, pending: 1, in_doubt: 0 });
    expect(state.codeOf(1)).toBe('recipient_rate_limited');
  });

  it('gives up a service that is away after maxWait, at least three tries, and tells what is in doubt', async () => {
    const { run, service, clock } = setting();
    const start = clock.time;
    const away = clientOf(service, () => Promise.reject(new Refused('connection_error', null)));
    const { ending, counts } = await run(away, { maxWait: 1 });
    expect(ending.stopped).toMatchObject({ code: 'connection_error' });
    expect(service.keys.filter((key) => key === service.keys[0])).toHaveLength(3);
    expect(new Set(service.keys).size).toBeLessThanOrEqual(3);
    expect(counts.in_doubt + counts.pending).toBe(7);
    expect(counts.in_doubt).toBeGreaterThan(0);
    expect(clock.time - start).toBeLessThan(5_000);
  });

  it('goes on with the others when one request alone cannot be resolved', async () => {
    const { run, service } = setting();
    const poison = new Set<string>();
    const client = clientOf(service);
    const poisoned: SendingClient = {
      ...client,
      send(request) {
        if (JSON.parse(request.body).to !== '99000010') return client.send(request);
        poison.add(request.idempotencyKey);
        return Promise.reject(new Refused('internal', 500));
      },
    };
    const { ending, counts } = await run(poisoned, { maxWait: 1 });
    expect(ending.stopped).toBeNull();
    expect(counts).toMatchObject({ accepted: 6, in_doubt: 1, pending: 0 });
    expect(poison.size).toBe(1);
  });

  it('does not retry failed singles', async () => {
    const failing = new Set(['99000011']);
    const { run, service } = setting({ failing });
    expect((await run()).counts).toMatchObject({ accepted: 6, failed: 1 });
    failing.clear();
    expect((await run()).counts).toMatchObject({ accepted: 6, failed: 1 });
    expect([...service.accepted.values()].every((times) => times === 1)).toBe(true);
  });

  it('finishes and records what is in flight at a stop, and sends nothing new', async () => {
    const { run, service } = setting();
    const stop = new AbortController();
    const slow = clientOf(service, async (call) => {
      stop.abort();
      return call();
    });
    const { ending, counts } = await run(slow, { stop: stop.signal, concurrency: 1 });
    expect(ending.stopped).toEqual({ by: 'signal' });
    expect(counts).toMatchObject({ accepted: 3, pending: 4, in_doubt: 0 });
    expect((await run()).counts.accepted).toBe(7);
    expect([...service.accepted.values()].every((times) => times === 1)).toBe(true);
  });

  it('leaves in doubt what does not end in time', async () => {
    const { run, service } = setting();
    const abandon = new AbortController();
    const never = clientOf(service, () => {
      abandon.abort();
      return new Promise(() => {});
    });
    const stop = AbortSignal.abort();
    const first = await run(never, { abandon: abandon.signal, concurrency: 1 });
    expect(first.counts).toMatchObject({ in_doubt: 3, pending: 4 });
    expect((await run(clientOf(service), { stop })).counts).toEqual(first.counts);
    expect((await run()).counts.accepted).toBe(7);
  });

  it('sends nothing whose intent could not be recorded, whichever write fails', async () => {
    for (let at = 1; at < 60; at += 1) {
      const { run, service, disk, entries } = setting();
      let operations = 0;
      let failed = false;
      disk.torn = at % 7;
      disk.before = (operation) => {
        if (operation === 'truncate') return;
        operations += 1;
        if (operations < at) return;
        failed = true;
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      };
      let after = 0;
      const client = clientOf(service, async (call) => {
        if (failed) after += 1;
        return call();
      });
      const { ending, counts } = await run(client);
      expect(after).toBe(0);
      if (!failed) return expect(counts.accepted).toBe(7);
      expect(ending.stopped).toMatchObject({ by: 'disk', error: { code: 'ENOSPC' } });
      disk.before = () => {};
      const intents = new Set(
        (await entries()).flatMap((entry) => (entry.type === 'send' ? [entry.request] : [])),
      );
      expect(new Set(service.keys).size).toBeLessThanOrEqual(intents.size);
      expect((await run()).counts.accepted).toBe(7);
      expect([...service.accepted.values()].every((times) => times === 1)).toBe(true);
    }
    throw new Error('the journal is never whole');
  });
});
