/** A point in time on both clocks of this machine, in milliseconds. */
export interface Moment {
  /** Since 1970; may be set. */
  wall: number;
  /** Monotonic; restarts with each boot. */
  elapsed: number;
}

export interface TokenBucket {
  /** Negative if too many were taken. */
  tokens: number;
  at: Moment;
  /** Milliseconds after `at` without tokens, from Retry-After. */
  blocked: number;
  /** Whether an answer of the service has corrected it. */
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
 * Milliseconds from one moment to another. A clock that was set, or is of another boot, machine or runtime, can be off
 * in either direction: a future moment counts as now, and the smaller of two differences refills least.
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

export interface Changed<Result> {
  bucket: TokenBucket;
  result: Result;
}

/** Tokens that were taken; if there were none, the milliseconds to wait for some. */
export interface Taken {
  tokens: number;
  wait: number;
}

/** Takes up to `wanted` tokens from a refilled bucket; if there are none, the wait is for `least`. */
export function takeTokens(
  bucket: TokenBucket,
  limit: RateLimit,
  wanted: number,
  least: number,
): Changed<Taken> {
  if (waitFor(bucket, limit, 1) > 0)
    return { bucket, result: { tokens: 0, wait: waitFor(bucket, limit, least) } };
  const tokens = Math.min(wanted, Math.floor(bucket.tokens));
  return { bucket: { ...bucket, tokens: bucket.tokens - tokens }, result: { tokens, wait: 0 } };
}

/** Milliseconds until a refilled bucket has so many tokens; 0 if it has them. */
function waitFor({ tokens, blocked }: TokenBucket, { perSecond }: RateLimit, count: number): number {
  return Math.max(blocked, Math.ceil((Math.max(0, count - tokens) * 1_000) / perSecond));
}
