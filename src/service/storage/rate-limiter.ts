import type { Clock } from '../clock.js';
import { ownRouteRates, type Permits, type RouteRates } from './route-limits.js';

/** A token bucket: one token per `interval` (milliseconds), at most `burst` saved up. */
export interface Bucket {
  interval: number;
  burst: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Milliseconds until the next token; 0 if one was taken. */
  wait: number;
}

/**
 * Takes a token. A bucket is stored as the time at which it will be full again (the generic cell rate algorithm), so
 * it fills by itself.
 */
export function takeToken(fullAt: number | null, bucket: Bucket, now: number): Taken & { fullAt: number } {
  const capacity = bucket.interval * bucket.burst;
  // Further ahead than an empty bucket: the clock was set back, so it counts as empty. This is stored even if nothing
  // is taken; otherwise the bucket would stay empty until the clock has caught up.
  const before = Math.min(Math.max(fullAt ?? now, now), now + capacity);
  const after = before + bucket.interval;
  const wait = after - now - capacity;
  if (wait > 0) return { allowed: false, remaining: 0, wait, fullAt: before };
  return {
    allowed: true,
    remaining: Math.floor((capacity - (after - now)) / bucket.interval),
    wait: 0,
    fullAt: after,
  };
}

/** The request rates of all projects, shared by every process. Losing them costs a burst each. */
export interface RateLimiter extends RouteRates {
  take(projectId: string, kind: string, bucket: Bucket): Promise<Taken>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Buckets shared with other processes; null while they cannot be used. */
export interface SharedBuckets {
  take(projectId: string, kind: string, bucket: Bucket): Promise<Taken | null>;
  takePermits(route: string, perSecond: number, wanted: number): Promise<Permits | null>;
  lowerRate(route: string, perSecond: number, answeredMs: number): Promise<number | null>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Counts this process's requests on its monotonic clock, which is never stepped, and those of all processes in the
 * shared buckets. While these cannot be used, the process limits itself.
 */
export function createRateLimiter(clock: Clock, shared: SharedBuckets | null): RateLimiter {
  const own = new Map<string, number>();
  const ownRates = ownRouteRates(clock);

  function takeOwn(name: string, bucket: Bucket): Taken {
    const { fullAt, ...taken } = takeToken(own.get(name) ?? null, bucket, clock.monotonic());
    if (taken.allowed) own.set(name, fullAt);
    return taken;
  }

  return {
    async take(projectId, kind, bucket) {
      const name = `${kind} ${projectId}`;
      const seen = takeToken(own.get(name) ?? null, bucket, clock.monotonic());
      if (shared === null || !seen.allowed) return takeOwn(name, bucket);
      const ofAll = await shared.take(projectId, kind, bucket);
      if (ofAll?.allowed === false) return ofAll;
      const taken = takeOwn(name, bucket);
      return { ...taken, remaining: Math.min(taken.remaining, ofAll?.remaining ?? taken.remaining) };
    },
    async takePermits(route, perSecond, wanted) {
      return (
        (await shared?.takePermits(route, perSecond, wanted)) ??
        ownRates.takePermits(route, perSecond, wanted)
      );
    },
    async lowerRate(route, perSecond, answeredMs) {
      return (
        (await shared?.lowerRate(route, perSecond, answeredMs)) ??
        ownRates.lowerRate(route, perSecond, answeredMs)
      );
    },
    async reset() {
      own.clear();
      await shared?.reset();
    },
    async close() {
      await shared?.close();
    },
  };
}
