/** A moment on both clocks of this machine, in milliseconds. */
export interface Moment {
  /** Since 1970; people and programs set it. */
  wall: number;
  /** On a clock that nobody sets; it begins anew with each boot. */
  elapsed: number;
}

/** A token bucket at a moment. */
export interface TokenBucket {
  /** Below 0 when more were taken than were there. */
  tokens: number;
  at: Moment;
  /** For so many milliseconds after `at` nothing may be taken: the service said so. */
  blocked: number;
  /** Whether an answer of the service has ever corrected it. */
  known: boolean;
}

export interface Allowance {
  perSecond: number;
  burst: number;
}

/** No service means more; a stored block must not outlive the reason for it by years. */
export const longestBlock = 86_400_000;

/** Without a record only one token is sure; the first answer tells the rest. */
export function unknownBucket(at: Moment): TokenBucket {
  return { tokens: 1, at, blocked: 0, known: false };
}

/**
 * Milliseconds from one moment to another. A clock that was set, or that belongs to another boot, machine or
 * runtime, is off in either direction: what comes from the future counts as now, and of two answers the smaller
 * one refills least.
 */
export function passed(from: Moment, to: Moment): number {
  const possible = [to.elapsed - from.elapsed, to.wall - from.wall].filter((time) => time >= 0);
  return possible.length === 0 ? 0 : Math.min(...possible);
}

/** The bucket now. */
export function refill(bucket: TokenBucket, { perSecond, burst }: Allowance, now: Moment): TokenBucket {
  const time = passed(bucket.at, now);
  const tokens = Math.max(-burst, bucket.tokens) + (time * perSecond) / 1_000;
  return {
    ...bucket,
    tokens: Math.min(burst, tokens),
    at: now,
    blocked: Math.max(0, Math.min(bucket.blocked, longestBlock) - time),
  };
}

/** Milliseconds until a token of a refilled bucket can be taken; 0 when it can be now. */
export function waitFor({ tokens, blocked }: TokenBucket, { perSecond }: Allowance): number {
  return Math.max(blocked, Math.ceil((Math.max(0, 1 - tokens) * 1_000) / perSecond));
}
