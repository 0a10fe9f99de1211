import { describe, expect, it } from 'vitest';
import { Reader, type ReaderOptions } from '../../../src/cli/reader/reader.js';
import { Refused } from '../bulk/model-service.js';
import { VirtualClock } from '../bulk/virtual-clock.js';

const unavailable = new Refused('unavailable', 503);
const forbidden = new Refused('forbidden', 403);
const rateLimited = new Refused('rate_limited', 429, { retryAfter: 3 });
const busy = new Refused('unavailable', 503, { retryAfter: 20 });

/** Reads from a service that answers with these in turn, the last one for ever. */
function readerOf(answers: readonly unknown[], options: Partial<ReaderOptions> = {}) {
  const clock = new VirtualClock();
  const started = clock.time;
  const blocks: number[] = [];
  let asked = 0;
  const reader = new Reader({
    rateLimiter: {
      take: async (_, signal) => {
        await clock.sleep(blocks.at(-1) ?? 0, signal);
        return !signal?.aborted;
      },
      block: (_, milliseconds) => void blocks.push(milliseconds),
    },
    now: clock.now,
    sleep: clock.sleep,
    after: clock.after,
    timeout: 60_000,
    stop: new AbortController().signal,
    ...options,
  });
  const read = async () => {
    const reply = await clock.run(
      reader.read(async () => {
        const answer = answers[Math.min(asked, answers.length - 1)];
        asked += 1;
        if (answer instanceof Error) throw answer;
        return answer;
      }),
    );
    const seconds = Math.round((clock.time - started) / 1_000);
    return {
      seconds,
      asked,
      ...('value' in reply ? { value: reply.value } : { code: reply.code, status: reply.status }),
    };
  };
  return { read, clock, blocks };
}

const ofClient = { rateLimiter: null, mostTries: Number.POSITIVE_INFINITY };

describe('a read', () => {
  it.each<[string, answers: unknown[], Partial<ReaderOptions>, object]>([
    ['an answer', ['a'], {}, { value: 'a', asked: 1, seconds: 0 }],
    ['two failures', [unavailable, unavailable, 'a'], {}, { value: 'a', asked: 3, seconds: 3 }],
    ['five failures', [unavailable], {}, { code: 'unavailable', status: null, asked: 5, seconds: 15 }],
    ['a refusal', [new Refused('not_found', 404)], {}, { code: 'not_found', status: 404, asked: 1 }],
    ['a time-out of a proxy', [new Refused('proxy', 408), 'a'], {}, { value: 'a', asked: 2 }],
    ['a full rate limit', [rateLimited, 'a'], {}, { value: 'a', asked: 2, seconds: 3 }],
    ['a rate limit that stays full', [rateLimited], {}, { code: 'rate_limited', status: null, seconds: 60 }],
    ['one try', [unavailable], { mostTries: 1 }, { code: 'unavailable', status: null, asked: 1 }],
    [
      'a client that keeps the rate limit',
      [rateLimited, 'a'],
      ofClient,
      { value: 'a', asked: 2, seconds: 3 },
    ],
    ['Retry-After', [busy, 'a'], ofClient, { value: 'a', asked: 2, seconds: 20 }],
    [
      'failures all the time',
      [unavailable],
      { ...ofClient, timeout: () => 10_000 },
      { code: 'timeout', seconds: 15 },
    ],
    [
      'a Retry-After that is too long',
      [busy],
      { ...ofClient, timeout: () => 10_000 },
      { code: 'timeout', seconds: 0 },
    ],
    ['no answer', [new Promise(() => {})], {}, { code: 'timeout', status: null, asked: 1, seconds: 60 }],
  ])('after %s', async (_, answers, options, expected) => {
    expect(await readerOf(answers, options).read()).toMatchObject(expected);
  });

  it.each([
    ['the key was refused', [forbidden], { code: 'forbidden', status: null, asked: 1 }],
    ['the time was up', [new Promise(() => {})], { code: 'timeout', status: null, asked: 1 }],
  ])('is not tried when %s in an earlier one', async (_, answers, expected) => {
    const { read } = readerOf(answers);
    await read();
    expect(await read()).toMatchObject(expected);
  });

  it('has as long as every other one after an answer', async () => {
    const { read, clock } = readerOf(['a', rateLimited]);
    await clock.run(clock.sleep(50_000));
    await read();
    expect(await read()).toMatchObject({ code: 'rate_limited', seconds: 110 });
  });

  it('ends when it is stopped', async () => {
    const stop = new AbortController();
    const { read, clock } = readerOf([unavailable], { ...ofClient, stop: stop.signal });
    clock.after(2_000, () => stop.abort());
    expect(await read()).toMatchObject({ code: 'stopped', status: null, seconds: 2 });
  });

  it.each([true, false])('that was begun is cut off by a stop only with a timer: %s', async (isCut) => {
    const clock = new VirtualClock();
    const { now, sleep, after } = clock;
    const stop = new AbortController();
    const timer = isCut ? { after } : {};
    const options = { rateLimiter: null, now, sleep, ...timer, timeout: 60_000, stop: stop.signal };
    after(1_000, () => stop.abort());
    const reply = new Reader(options).read(() => sleep(2_000).then(() => 'a'));
    expect(await clock.run(reply)).toMatchObject(isCut ? { code: 'stopped' } : { value: 'a' });
  });

  it('rejects with an error that is not of the client', async () => {
    await expect(readerOf([new TypeError('a bug')]).read()).rejects.toThrow('a bug');
  });
});
