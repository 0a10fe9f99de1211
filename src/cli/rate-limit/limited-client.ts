import { join } from 'node:path';
import type { UrtuuOptions } from '../../client/index.js';
import type { System } from '../../client/system.js';
import { Urtuu } from '../../client/urtuu.js';
import { randomUuid } from '../platform/random-uuid.js';
import { fingerprint } from '../text/fingerprint.js';
import type { Clock } from '../time/clock.js';
import { type BucketStore, fileBuckets, memoryBuckets } from './bucket-store.js';
import { RateLimiter } from './rate-limiter.js';

/** A single request waits this long for its token, and is then sent without one. */
const longestWait = 30_000;

interface LimiterOptions {
  clock: Clock;
  /** Returns the state folder, or throws if there is none; null keeps the buckets in this process. */
  state: (() => string) | null;
  /** Called for a wait of more than a second; in milliseconds. */
  waiting(milliseconds: number): void;
}

/** The rate limiter of a project, shared by its commands on this machine. No file name contains the key. */
export function openRateLimiter(
  { clock, state, waiting }: LimiterOptions,
  baseUrl: string,
  key: string,
): RateLimiter {
  return new RateLimiter({
    clock,
    buckets: bucketsIn(state, fingerprint(`${baseUrl} ${key}`), clock),
    onWait: waiting,
  });
}

function bucketsIn(state: (() => string) | null, project: string, clock: Clock): BucketStore {
  if (state === null) return memoryBuckets();
  try {
    return fileBuckets(join(state(), 'rate-limit', project), clock);
  } catch {
    return memoryBuckets();
  }
}

/** A client whose attempts, including retries, each take a token first. `signal` ends the wait. */
export function limitedClient(
  key: string,
  options: UrtuuOptions,
  limiter: RateLimiter,
  clock: Clock,
  signal: () => AbortSignal,
): Urtuu {
  const system = limitedSystem(limiter, clock, signal);
  const Client = Urtuu as unknown as new (key: string, options: UrtuuOptions, system: System) => Urtuu;
  return new Client(key, options, system);
}

/** Each attempt takes a token before it is sent. Keys are generated without loading a module. */
export function limitedSystem(limiter: RateLimiter, clock: Clock, signal: () => AbortSignal): System {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after: (milliseconds, run) => clock.after(milliseconds, run),
    async sleep(milliseconds, until) {
      await clock.sleep(milliseconds, until ?? undefined).catch((error) => {
        if (!until?.aborted) throw error;
      });
    },
    random: Math.random,
    newIdempotencyKey: randomUuid,
    async ready(method) {
      const kind = method === 'GET' ? 'reading' : 'sending';
      if (await limiter.take(kind, signal(), longestWait)) return;
      // An ended command sends nothing more.
      signal().throwIfAborted();
      if (limiter.closed) throw new Error('the command has ended');
      limiter.goAhead(kind);
    },
  };
}
