import type { Clock } from '../clock.js';
import { ownRouteRates, type RouteRates, type Turns } from './route-limits.js';

/** A token bucket: one token an `interval` (milliseconds), at most `burst` saved up. */
export interface Bucket {
  interval: number;
  burst: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Milliseconds until a token is there; 0 when one was taken. */
  wait: number;
}

/**
 * Takes a token. A bucket is remembered as the one time at which it will be full again (the generic cell rate
 * algorithm), so that it fills by itself.
 */
export function takeToken(fullAt: number | null, bucket: Bucket, now: number): Taken & { fullAt: number } {
  const capacity = bucket.interval * bucket.burst;
  // Further ahead than an empty bucket: the clock was set back, and it counts as empty. To be remembered even when
  // nothing is taken, or it would stay empty until the clock is back where it was.
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

/** The request rates of all projects, shared by every process. Forgetting them costs one burst each. */
export interface RateLimiter extends RouteRates {
  take(projectId: string, kind: string, bucket: Bucket): Promise<Taken>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Buckets that other processes see too; null where they cannot be used now. */
export interface SharedBuckets {
  take(projectId: string, kind: string, bucket: Bucket): Promise<Taken | null>;
  takeTurns(route: string, perSecond: number, wanted: number): Promise<Turns | null>;
  lowerRate(route: string, perSecond: number, answeredMs: number): Promise<number | null>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What this process takes counts on its monotonic clock, which nothing steps, and what all of them take in the
 * shared buckets. Where those cannot be used the process keeps to the rate by itself.
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
    async takeTurns(route, perSecond, wanted) {
      return (
        (await shared?.takeTurns(route, perSecond, wanted)) ?? ownRates.takeTurns(route, perSecond, wanted)
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
