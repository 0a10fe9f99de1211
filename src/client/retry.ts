/** What may be done with a request whose fate is unknown: `verify` carries no key and is not resent. */
export type CallKind = 'read' | 'send' | 'verify';

/** A failed attempt: the code, the HTTP status or null when no answer arrived, and Retry-After in seconds. */
export interface Failure {
  code: string;
  status: number | null;
  retryAfter: number | null;
}

export interface Attempt {
  kind: CallKind;
  /** True when the caller chose the idempotency key. */
  callersKey: boolean;
  /** Retries made so far in this call, whatever caused them. */
  retries: number;
  maxRetries: number;
}

export interface Retry {
  /** Milliseconds until the next attempt. */
  wait: number;
  /** The old key is bound to a failure and can only repeat it. */
  newKey: boolean;
}

/** The longest Retry-After that is waited for; more is thrown (Client retries). */
const longestWait = 10;
/** A Retry-After of 0, or a date in the past, must not become a hot loop. */
const shortestWait = 0.1;
/** So that a caller's own `setTimeout(..., retryAfter * 1000)` does not overflow. */
const longestRetryAfter = 2_147_483;

/** The retry table (Client retries): null when the failure is to be thrown. `random` gives 0 to 1. */
export function planRetry(failure: Failure, attempt: Attempt, random: () => number): Retry | null {
  const { code, status, retryAfter } = failure;
  if (attempt.retries >= attempt.maxRetries) return null;
  if (code === 'rate_limited' && status === 429) {
    if (retryAfter === null) return { wait: backoff(attempt.retries, random()), newKey: false };
    return retryAfter > longestWait
      ? null
      : { wait: Math.max(retryAfter, shortestWait) * 1_000, newKey: false };
  }
  if (attempt.kind === 'verify' || !(status === null || isServerError(status))) return null;
  const newKey = code === 'provider_failed' && attempt.kind === 'send';
  if (newKey && attempt.callersKey) return null;
  return { wait: backoff(attempt.retries, random()), newKey };
}

/** Milliseconds before retry number `retries`, counted from 0: doubling from 0.5 s to 8 s, less up to a quarter. */
export function backoff(retries: number, random: number): number {
  return Math.min(500 * 2 ** retries, 8_000) * (0.75 + 0.25 * random);
}

/** Seconds of a Retry-After header: a whole or decimal number, or an HTTP date; null when it is neither. */
export function readRetryAfter(header: string | null, now: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value), longestRetryAfter);
  // Date.parse takes almost anything for a date ("-5" too), so only what begins with a weekday reaches it.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return null;
  const date = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  if (Number.isNaN(date)) return null;
  return Math.min(Math.max(0, Math.ceil((date - now) / 1_000)), longestRetryAfter);
}

function isServerError(status: number): boolean {
  return status >= 500 && status < 600;
}
