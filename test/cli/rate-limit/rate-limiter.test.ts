import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BucketStore, fileBuckets, memoryBuckets } from '../../../src/cli/rate-limit/bucket-store.js';
import { RateLimiter } from '../../../src/cli/rate-limit/rate-limiter.js';
import type { Clock } from '../../../src/cli/time/clock.js';
import { type RequestKind, requestRates } from '../../../src/contract/index.js';
import { fileFolder } from '../../support/folders.js';
import { VirtualClock } from '../bulk/virtual-clock.js';

const root = fileFolder();

/** The bucket of the service, which counts what it would have refused. */
class ServiceBucket {
  refused = 0;
  taken = 0;
  #tokens: number;
  #at: number;
  readonly #start: number;
  constructor(
    readonly clock: VirtualClock,
    readonly kind: RequestKind = 'sending',
    tokens: number = requestRates[kind].burst,
  ) {
    this.#tokens = tokens;
    this.#at = this.#start = clock.elapsed();
  }
  take(): number {
    const { burst, perSecond } = requestRates[this.kind];
    const now = this.clock.elapsed();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) * perSecond) / 1_000);
    this.#at = now;
    if (this.#tokens < 1) {
      this.refused += 1;
      return 0;
    }
    this.#tokens -= 1;
    this.taken += 1;
    return Math.floor(this.#tokens);
  }
  /** How much of what was allowed until now was used. */
  get used(): number {
    const { burst, perSecond } = requestRates[this.kind];
    return this.taken / (burst + ((this.clock.elapsed() - this.#start) * perSecond) / 1_000);
  }
}

/** So many workers of a process; each request takes `latency()` there and back. */
function workers(
  clock: Clock,
  service: ServiceBucket,
  buckets: BucketStore,
  count: number,
  latency: () => number,
  until: () => boolean,
) {
  const limiter = new RateLimiter({ buckets, clock });
  const { kind } = service;
  return Array.from({ length: count }, async () => {
    while (!until()) {
      await limiter.take(kind);
      await clock.sleep(latency() / 2);
      const { refused } = service;
      const remaining = service.take();
      await clock.sleep(latency() / 2);
      limiter.ended(kind, service.refused > refused ? 429 : 200, remaining);
    }
  });
}

/** The same clock, with a wall clock that somebody sets. */
const skewed = (clock: VirtualClock, skew: () => number): Clock => ({
  now: () => clock.now() + skew(),
  elapsed: clock.elapsed,
  sleep: clock.sleep,
  after: clock.after,
});

function jitter(seed: number, least: number, most: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return least + ((most - least) * state) / 2 ** 31;
  };
}

describe('the rate limiter', () => {
  it.each([
    ['sending', 98, '1 ms', 8, 1, 1],
    ['sending', 98, '20 to 60 ms', 8, 20, 60],
    ['sending', 98, '50 to 300 ms', 8, 50, 300],
    // What is under way so long is counted against us, and the first answer is waited for.
    ['sending', 96, '200 to 900 ms', 32, 200, 900],
    ['reading', 98, '1 ms', 10, 1, 1],
    ['reading', 98, '20 to 60 ms', 10, 20, 60],
    ['reading', 98, '50 to 300 ms', 10, 50, 300],
  ] as const)(
    '%s: uses %d %% of the allowance over 1,000 requests, with a latency of %s, and causes no 429',
    async (kind, goal, _, count, least, most) => {
      const clock = new VirtualClock();
      const service = new ServiceBucket(clock, kind);
      const until = () => service.taken + service.refused >= 1_000;
      await clock.run(
        Promise.all(workers(clock, service, memoryBuckets(), count, jitter(7, least, most), until)),
      );
      expect(service.refused).toBe(0);
      expect(100 * service.used).toBeGreaterThan(goal);
    },
  );

  it.each([
    ['sending', 600, 0.96],
    ['reading', 300, 0.96],
  ] as const)(
    '%s: is shared by the processes of one machine, and starts no burst that others have spent',
    async (kind, requests, goal) => {
      const clock = new VirtualClock();
      const service = new ServiceBucket(clock, kind);
      const folder = join(root, `shared-${kind}`);
      const until = () => service.taken + service.refused >= requests;
      const processes = [1, 2, 3].flatMap((seed) =>
        workers(clock, service, fileBuckets(folder, clock), 4, jitter(seed, 20, 80), until),
      );
      await clock.run(Promise.all(processes));
      expect(service.refused).toBe(0);
      expect(service.used).toBeGreaterThan(goal);
    },
  );

  it('knows nothing of a bucket whose file was lost, and asks before it bursts', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock, 'sending', 3);
    const start = clock.now();
    const until = () => clock.now() - start > 10_000;
    await clock.run(Promise.all(workers(clock, service, memoryBuckets(), 8, jitter(3, 20, 40), until)));
    expect(service.refused).toBe(0);
    expect(service.taken).toBeGreaterThan(190);
  });

  it('uses the documented burst where the service does not tell what is left', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ buckets: memoryBuckets(), clock });
    await limiter.take('reading');
    limiter.ended('reading', 200, null);
    const start = clock.now();
    await clock.run(Promise.all(Array.from({ length: 8 }, () => limiter.take('reading'))));
    expect(clock.now() - start).toBe(0);
    await clock.run(limiter.take('reading'));
    expect(clock.now() - start).toBe(100);
  });

  it('changes the shared bucket once a request, and again only where an answer has fewer tokens', async () => {
    const clock = new VirtualClock();
    const kept = memoryBuckets();
    let updates = 0;
    const buckets: BucketStore = {
      update(name, change) {
        updates += 1;
        return kept.update(name, change);
      },
    };
    const limiter = new RateLimiter({ buckets, clock });
    const updatesOf = async (remaining: number | null) => {
      const before = updates;
      expect(await limiter.take('sending')).toBe(true);
      limiter.ended('sending', 200, remaining);
      return updates - before;
    };
    const { burst } = requestRates.sending;
    // Nothing is known before the first answer.
    expect(await updatesOf(burst - 1)).toBe(2);
    expect(await updatesOf(burst - 2)).toBe(1);
    expect(await updatesOf(null)).toBe(1);
    expect(await updatesOf(burst - 10)).toBe(2);
    expect(await updatesOf(burst - 11)).toBe(1);
    // 10 taken elsewhere leave 26: 29 less the 3 that stay unused.
    const { tokens } = await kept.update('sending', (bucket) => ({
      bucket: bucket as never,
      result: bucket as never as { tokens: number },
    }));
    expect(tokens).toBeCloseTo(burst - 10 - 3 - 1, 5);
    const before = updates;
    const many = 2 * burst;
    const taken = Array.from({ length: many }, () => limiter.take('sending'));
    await clock.run(Promise.all(taken));
    expect(updates - before).toBeLessThan(many + 5);
  });

  it('takes the tokens of waiting reads together, as fast as one by one', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock, 'reading');
    const kept = memoryBuckets();
    let updates = 0;
    const buckets: BucketStore = {
      update(name, change) {
        updates += 1;
        return kept.update(name, change);
      },
    };
    const start = clock.now();
    const until = () => service.taken + service.refused >= 60;
    await clock.run(Promise.all(workers(clock, service, buckets, 10, () => 5, until)));
    expect(service.refused).toBe(0);
    expect(updates).toBeLessThan(45);
    // 9 at once, then 10 a second: 51 of them, and the 9 that are still asked for at the end.
    expect(clock.now() - start).toBeLessThan(6_500);
  });

  it('gives back the tokens of reads that ended while they were taken', async () => {
    const clock = new VirtualClock();
    const buckets = memoryBuckets();
    const limiter = new RateLimiter({ buckets, clock });
    await limiter.take('reading');
    limiter.ended('reading', 200, requestRates.reading.burst - 1);
    const tokens = () =>
      buckets.update('reading', (bucket) => ({
        bucket: bucket as never,
        result: (bucket as never as { tokens: number }).tokens,
      }));
    const before = await tokens();
    const over = new AbortController();
    const reads = [undefined, over.signal, over.signal].map((signal) => limiter.take('reading', signal));
    over.abort();
    expect(await Promise.all(reads)).toEqual([true, false, false]);
    expect(await tokens()).toBe(before - 1);
  });

  it('gives way to keys elsewhere that spend from the same allowance', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock);
    const start = clock.now();
    const until = () => clock.now() - start > 30_000;
    const elsewhere = async () => {
      while (!until()) {
        service.take();
        await clock.sleep(100);
      }
    };
    const here = workers(clock, service, memoryBuckets(), 8, jitter(5, 20, 60), until);
    await clock.run(Promise.all([...here, elsewhere()]));
    expect(service.refused / service.taken).toBeLessThan(0.02);
    expect(service.taken).toBeGreaterThan(600);
  });

  it.each([0.25, 4])('keeps a rate that is %d times the documented one', async (scale) => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ buckets: memoryBuckets(), clock });
    limiter.limitTo(20 * scale);
    await clock.run(limiter.take('sending'));
    limiter.ended('sending', 200, null);
    const start = clock.now();
    const count = Math.round(600 * scale);
    await clock.run(Promise.all(Array.from({ length: count }, () => limiter.take('sending'))));
    const burst = scale < 1 ? 0 : 37 * scale - 1;
    expect((clock.now() - start) / 1_000).toBeCloseTo((count - burst) / (20 * scale), 0);
  });

  it('takes what a slower command takes from the others too', async () => {
    const clock = new VirtualClock();
    const buckets = memoryBuckets();
    const slow = new RateLimiter({ buckets, clock });
    slow.limitTo(5);
    const fast = new RateLimiter({ buckets, clock });
    let taken = 0;
    const start = clock.now();
    const work = async (limiter: RateLimiter) => {
      while (clock.now() - start < 10_000) {
        await limiter.take('sending');
        taken += 1;
      }
    };
    await clock.run(Promise.all([work(slow), work(fast)]));
    expect(taken).toBeGreaterThan(195);
    expect(taken).toBeLessThanOrEqual(204);
  });

  const day = 86_400_000;
  it.each([
    ['is set back by two days', () => -2 * day],
    ['is set forward by two days', () => 2 * day],
    ['jumps every second', (second: number) => ([0, 2, -2, 1, -1][second % 5] as number) * day],
  ] as const)('neither stops nor bursts when the clock %s', async (name, skewAt) => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock);
    const folder = join(root, name);
    const start = clock.elapsed();
    const second = () => Math.floor((clock.elapsed() - start) / 1_000);
    const until = () => clock.elapsed() - start > 20_000;
    const processes = [1, 2].flatMap((seed) => {
      const set = skewed(clock, () => (second() < 5 ? 0 : skewAt(second() + seed)));
      return workers(set, service, fileBuckets(folder, clock), 4, jitter(seed, 20, 60), until);
    });
    await clock.run(Promise.all(processes));
    expect(service.refused).toBe(0);
    expect(service.used).toBeGreaterThan(0.95);
  });

  it('stops waiting when told to, also when others asked before', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ buckets: memoryBuckets(), clock });
    limiter.block('sending', 60_000);
    const stop = new AbortController();
    const first = limiter.take('sending');
    const second = limiter.take('sending', stop.signal);
    stop.abort();
    const start = clock.now();
    expect(await clock.run(second)).toBe(false);
    expect(clock.now()).toBe(start);
    expect(await clock.run(first)).toBe(true);
  });

  it('gives up when nobody got a token for so long, and not while others do', async () => {
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ buckets: memoryBuckets(), clock });
    const start = clock.now();
    const many = Array.from({ length: 60 }, () => limiter.take('reading', undefined, 5_000));
    expect(await clock.run(Promise.all(many))).toEqual(many.map(() => true));
    limiter.block('reading', 3_000_000);
    const blocked = clock.now();
    expect(blocked - start).toBeGreaterThan(5_000);
    expect(await clock.run(limiter.take('reading', undefined, 5_000))).toBe(false);
    expect(clock.now() - blocked).toBe(5_000);
  });

  it('tells once of each wait that is over a second', async () => {
    const clock = new VirtualClock();
    const told: number[] = [];
    const onWait = (milliseconds: number) => told.push(milliseconds);
    const limiter = new RateLimiter({ buckets: memoryBuckets(), clock, onWait });
    await clock.run(Promise.all(Array.from({ length: 40 }, () => limiter.take('reading'))));
    expect(told).toEqual([]);
    limiter.block('reading', 20_000);
    await clock.run(limiter.take('reading'));
    expect(told).toEqual([19_000]);
  });

  it('ends a block when somebody who went ahead was answered', async () => {
    const clock = new VirtualClock();
    const buckets = memoryBuckets();
    const one = new RateLimiter({ buckets, clock });
    const other = new RateLimiter({ buckets, clock });
    one.block('sending', 3_000_000);
    const waiting = other.take('sending');
    expect(await clock.run(one.take('sending', undefined, 30_000))).toBe(false);
    one.goAhead('sending');
    const start = clock.now();
    one.ended('sending', 200, 39);
    expect(await clock.run(waiting)).toBe(true);
    expect(clock.now() - start).toBeLessThanOrEqual(1_000);
    one.block('sending', 3_000_000);
    expect(await clock.run(one.take('sending', undefined, 30_000))).toBe(false);
    one.goAhead('sending');
    one.ended('sending', 429, 0);
    expect(await clock.run(other.take('sending', undefined, 30_000))).toBe(false);
  });
});

describe('the file of a bucket', () => {
  const at = { wall: 1_000, elapsed: 1_000 };
  const timing = () => {
    const clock = new VirtualClock();
    return { clock, elapsed: clock.elapsed, sleep: clock.sleep };
  };
  const add = (store: BucketStore, name = 'sending') =>
    store.update(name, (bucket) => ({
      bucket: { tokens: (bucket?.tokens ?? 0) + 1, at, blocked: 0, known: true },
      result: bucket?.tokens ?? null,
    }));

  it('is read by the next process', async () => {
    const folder = join(root, 'next');
    expect(await add(fileBuckets(folder, timing()))).toBeNull();
    expect(await add(fileBuckets(folder, timing()))).toBe(1);
    expect(readdirSync(folder)).toEqual(['sending.json']);
    expect(statSync(join(folder, 'sending.json')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['empty', ''],
    ['cut', '{"version":1,"tokens":'],
    ['garbage', '\u0000\u00ff'.repeat(300)],
    ['from another version', JSON.stringify({ version: 2, tokens: 9, wall: 0, elapsed: 0, blocked: 0 })],
    ['from before versions', JSON.stringify({ tokens: 9, at: 0, blockedUntil: 0, known: true })],
    ['full of null', JSON.stringify({ version: 1, tokens: null, wall: 0, elapsed: 0, blocked: 0 })],
  ])('is unknown when it is %s', async (name, text) => {
    const folder = join(root, `garbage-${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'sending.json'), text);
    expect(await add(fileBuckets(folder, timing()))).toBeNull();
    expect(await add(fileBuckets(folder, timing()))).toBe(1);
  });

  it.each([
    ['from the future', { tokens: 0, wall: 9e15, elapsed: 9e15, blocked: 0 }, 100],
    ['far below zero', { tokens: -1e12, wall: 0, elapsed: 0, blocked: 0 }, 0],
    [
      'blocked for ever and a clock from the future',
      { tokens: 9, wall: 9e15, elapsed: 9e15, blocked: 1e300 },
      30_000,
    ],
  ])('%s blocks nobody for long', async (name, fields, longest) => {
    const folder = join(root, `future-${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'reading.json'), JSON.stringify({ version: 1, known: true, ...fields }));
    const clock = new VirtualClock();
    const limiter = new RateLimiter({ buckets: fileBuckets(folder, clock), clock });
    const start = clock.now();
    await clock.run(limiter.take('reading', undefined, 30_000));
    expect(clock.now() - start).toBeLessThanOrEqual(longest);
  });

  it('is not waited for when a process died with its lock, whatever the clock says', async () => {
    const folder = join(root, 'lock');
    await add(fileBuckets(folder, timing()));
    for (const time of [0, Date.now() / 1_000, 9e9]) {
      writeFileSync(join(folder, 'sending.json.lock'), '');
      utimesSync(join(folder, 'sending.json.lock'), time, time);
      const own = timing();
      const start = own.clock.now();
      expect(await own.clock.run(add(fileBuckets(folder, own)))).toBeGreaterThan(0);
      expect(own.clock.now() - start).toBeLessThan(300);
    }
    expect(readdirSync(folder)).toEqual(['sending.json']);
  });

  it('lives in memory where nothing can be written', async () => {
    const nowhere = fileBuckets('/dev/null/rate-limit', timing());
    expect(await add(nowhere)).toBeNull();
    expect(await add(nowhere)).toBe(1);
    const folder = join(root, 'a-folder-in-its-place');
    mkdirSync(join(folder, 'sending.json'), { recursive: true });
    const blocked = fileBuckets(folder, timing());
    expect(await add(blocked)).toBeNull();
    expect(await add(blocked)).toBe(1);
  });

  it.skipIf(process.platform === 'win32')('does not hang on a named pipe', async () => {
    const folder = join(root, 'pipe');
    mkdirSync(folder);
    execFileSync('mkfifo', [join(folder, 'sending.json')]);
    const store = fileBuckets(folder, timing());
    expect(await add(store)).toBeNull();
    expect(await add(store)).toBe(1);
  });
});
