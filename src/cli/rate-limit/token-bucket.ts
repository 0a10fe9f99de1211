/** A point in time on both clocks of this machine, in milliseconds. */
export interface Moment {
  /** Since 1970; it can be set. */
  wall: number;
  /** Monotonic; it restarts with each boot. */
  elapsed: number;
}

export interface TokenBucket {
  /** Below 0 when too many were taken. */
  tokens: number;
  at: Moment;
  /** Milliseconds after `at` without tokens, by Retry-After. */
  blocked: number;
  /** An answer of the service has corrected it. */
  known: boolean;
}

export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** A stored block must not outlive its reason by years. */
export const longestBlock = 86_400_000;

/** Only one token is certain until the first answer. */
export function unknownBucket(at: Moment): TokenBucket {
  return { tokens: 1, at, blocked: 0, known: false };
}

/**
 * Milliseconds from one moment to another. A clock that was set, or of another boot, machine or runtime, can be off in
 * either direction: a future moment counts as now, and the smaller of two differences refills least.
 */
export function passed(from: Moment, to: Moment): number {
  const possible = [to.elapsed - from.elapsed, to.wall - from.wall].filter((time) => time >= 0);
  return possible.length === 0 ? 0 : Math.min(...possible);
}

export function refill(bucket: TokenBucket, { perSecond, burst }: RateLimit, now: Moment): TokenBucket {
  const time = passed(bucket.at, now);
  const tokens = Math.max(-burst, bucket.tokens) + (time * perSecond) / 1_000;
  return {
    ...bucket,
    tokens: Math.min(burst, tokens),
    at: now,
    blocked: Math.max(0, Math.min(bucket.blocked, longestBlock) - time),
  };
}

/** Milliseconds until a refilled bucket has a token; 0 when it has one. */
export function waitFor({ tokens, blocked }: TokenBucket, { perSecond }: RateLimit): number {
  return Math.max(blocked, Math.ceil((Math.max(0, 1 - tokens) * 1_000) / perSecond));
}
