import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type BucketStore, fileBuckets, memoryBuckets } from '../../../src/cli/bulk/bucket.js';
import { Pace } from '../../../src/cli/bulk/pace.js';
import { requestRates } from '../../../src/contract/index.js';
import { VirtualClock } from './virtual-clock.js';

const root = mkdtempSync(join(tmpdir(), 'urtuu-pace-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The bucket of the service, which counts what it would have refused. */
class ServiceBucket {
  refused = 0;
  taken = 0;
  #tokens: number = requestRates.sending.burst;
  #at: number;
  constructor(
    readonly now: () => number,
    tokens: number = requestRates.sending.burst,
  ) {
    this.#tokens = tokens;
    this.#at = now();
  }
  take(): number {
    const { burst, perSecond } = requestRates.sending;
    this.#tokens = Math.min(burst, this.#tokens + ((this.now() - this.#at) * perSecond) / 1_000);
    this.#at = this.now();
    if (this.#tokens < 1) {
      this.refused += 1;
      return 0;
    }
    this.#tokens -= 1;
    this.taken += 1;
    return Math.floor(this.#tokens);
  }
}

/** So many workers that send through one pace; each request takes `latency()` there and back. */
function workers(
  clock: VirtualClock,
  service: ServiceBucket,
  buckets: BucketStore,
  count: number,
  latency: () => number,
  until: () => boolean,
  skew = 0,
) {
  const pace = new Pace({ buckets, now: () => clock.now() + skew, sleep: clock.sleep });
  return Array.from({ length: count }, async () => {
    while (!until()) {
      await pace.take('sending');
      await clock.sleep(latency() / 2);
      const remaining = service.take();
      await clock.sleep(latency() / 2);
      pace.ended('sending', remaining);
    }
  });
}

function jitter(seed: number, least: number, most: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return least + ((most - least) * state) / 2 ** 31;
  };
}

describe('the pace', () => {
  it.each([
    [98, '1 ms', 8, 1, 1],
    [98, '20 to 60 ms', 8, 20, 60],
    [98, '50 to 300 ms', 8, 50, 300],
    // What is under way so long is counted against us, and the first answer is waited for.
    [96, '200 to 900 ms', 32, 200, 900],
  ])(
    'uses %d %% of the allowance over 1,000 requests and causes no 429, with a latency of %s',
    async (goal, _, count, least, most) => {
      const clock = new VirtualClock();
      const service = new ServiceBucket(clock.now);
      const start = clock.now();
      const until = () => service.taken + service.refused >= 1_000;
      await clock.run(
        Promise.all(workers(clock, service, memoryBuckets(), count, jitter(7, least, most), until)),
      );
      const allowed =
        requestRates.sending.burst + ((clock.now() - start) * requestRates.sending.perSecond) / 1_000;
      expect(service.refused).toBe(0);
      expect((100 * service.taken) / allowed).toBeGreaterThan(goal);
    },
  );

  it('is shared by processes of one machine, and starts no burst that others have spent', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock.now);
    const buckets = fileBuckets(join(root, 'shared'));
    const start = clock.now();
    const until = () => service.taken + service.refused >= 600;
    const processes = [1, 2, 3].flatMap((seed) =>
      workers(clock, service, buckets, 4, jitter(seed, 20, 80), until),
    );
    await clock.run(Promise.all(processes));
    const allowed =
      requestRates.sending.burst + ((clock.now() - start) * requestRates.sending.perSecond) / 1_000;
    expect(service.refused).toBe(0);
    expect(service.taken / allowed).toBeGreaterThan(0.96);
  });

  it('knows nothing of a bucket whose file was lost, and asks before it bursts', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock.now, 3);
    const until = () => clock.now() - 1_700_000_000_000 > 10_000;
    await clock.run(Promise.all(workers(clock, service, memoryBuckets(), 8, jitter(3, 20, 40), until)));
    expect(service.refused).toBe(0);
    expect(service.taken).toBeGreaterThan(190);
  });

  it('gives way to keys elsewhere that spend from the same allowance', async () => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock.now);
    const until = () => clock.now() - 1_700_000_000_000 > 30_000;
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

  it.each([-86_400_000, 86_400_000])('survives a clock that jumps by %d ms', async (jump) => {
    const clock = new VirtualClock();
    const service = new ServiceBucket(clock.now);
    const buckets = memoryBuckets();
    let sent = 0;
    const first = () => sent++ > 50;
    await clock.run(Promise.all(workers(clock, service, buckets, 8, jitter(2, 20, 60), first)));
    const start = clock.now();
    const until = () => clock.now() - start > 10_000;
    await clock.run(Promise.all(workers(clock, service, buckets, 8, jitter(2, 20, 60), until, jump)));
    expect(service.taken).toBeGreaterThan(200);
  });

  it('sends nothing while the service wants quiet', async () => {
    const clock = new VirtualClock();
    const pace = new Pace({ buckets: memoryBuckets(), now: clock.now, sleep: clock.sleep });
    pace.block('sending', 7_000);
    const start = clock.now();
    await clock.run(pace.take('sending'));
    expect(clock.now() - start).toBe(7_000);
  });

  it('stops waiting when told to', async () => {
    const clock = new VirtualClock();
    const pace = new Pace({ buckets: memoryBuckets(), now: clock.now, sleep: clock.sleep });
    pace.block('sending', 60_000);
    const stop = new AbortController();
    const taken = pace.take('sending', stop.signal);
    stop.abort();
    expect(await clock.run(taken)).toBe(false);
  });
});

describe('the file of a bucket', () => {
  it('survives garbage, a lock left behind, and a folder that cannot be made', () => {
    const folder = join(root, 'garbage');
    const change = () =>
      fileBuckets(folder).update('sending', (bucket) => ({
        bucket: { tokens: (bucket?.tokens ?? 0) + 1, at: 0, blockedUntil: 0, known: true },
        result: bucket,
      }));
    expect(change()).toBeNull();
    expect(change()).toMatchObject({ tokens: 1 });
    writeFileSync(join(folder, 'sending.json'), '{"tokens":');
    expect(change()).toBeNull();
    writeFileSync(join(folder, 'sending.json.lock'), '');
    utimesSync(join(folder, 'sending.json.lock'), 0, 0);
    expect(change()).toMatchObject({ tokens: 1 });
    expect(readdirSync(folder)).toEqual(['sending.json']);
    const nowhere = fileBuckets('/dev/null/pace');
    const take = (tokens: number) =>
      nowhere.update('x', (bucket) => ({
        bucket: { tokens, at: 0, blockedUntil: 0, known: true },
        result: bucket,
      }));
    expect(take(5)).toBeNull();
    expect(take(6)).toMatchObject({ tokens: 5 });
  });
});
