/** `verify` has no idempotency key, so it is not repeated when its outcome is unknown. */
export type CallKind = 'read' | 'send' | 'verify';

/** `status` is null without an answer; `retryAfter` is in seconds. */
export interface Failure {
  code: string;
  status: number | null;
  retryAfter: number | null;
}

export interface Attempt {
  kind: CallKind;
  /** Whether the caller chose the idempotency key. */
  hasCallersKey: boolean;
  /** Retries so far in this call, for any reason. */
  retries: number;
  maxRetries: number;
}

export interface Retry {
  /** Milliseconds until the next attempt. */
  wait: number;
  /** Use a new key: the old one is bound to a failure, and would only return it again. */
  needsNewKey: boolean;
}

/** Seconds; a longer Retry-After is not waited for (Client retries). */
const longestWait = 10;
/** Seconds; a Retry-After of 0 must not cause a hot loop. */
const shortestWait = 0.1;
/** Seconds, so that a caller's `setTimeout(..., retryAfter * 1000)` does not overflow. */
const longestRetryAfter = 2_147_483;

/** The retry table (Client retries); null to throw the failure. */
export function planRetry(failure: Failure, attempt: Attempt, random: () => number): Retry | null {
  const { code, status, retryAfter } = failure;
  if (attempt.retries >= attempt.maxRetries) return null;
  if (code === 'rate_limited' && status === 429) {
    if (retryAfter === null) return { wait: backoff(attempt.retries, random()), needsNewKey: false };
    return retryAfter > longestWait
      ? null
      : { wait: Math.max(retryAfter, shortestWait) * 1_000, needsNewKey: false };
  }
  if (attempt.kind === 'verify' || !(status === null || isServerError(status))) return null;
  const needsNewKey = code === 'provider_failed' && attempt.kind === 'send';
  if (needsNewKey && attempt.hasCallersKey) return null;
  return { wait: backoff(attempt.retries, random()), needsNewKey };
}

/** Milliseconds before the next retry: doubles from 0.5 s to 8 s, minus up to a quarter. */
export function backoff(retries: number, random: number): number {
  return Math.min(500 * 2 ** retries, 8_000) * (0.75 + 0.25 * random);
}

/** Seconds in a Retry-After header, which has a number or an HTTP date; null for anything else. */
export function readRetryAfter(header: string | null, now: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Number(value), longestRetryAfter);
  // Date.parse accepts almost anything ("-5" too), but HTTP dates begin with a weekday.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return null;
  const date = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  if (Number.isNaN(date)) return null;
  return Math.min(Math.max(0, Math.ceil((date - now) / 1_000)), longestRetryAfter);
}

function isServerError(status: number): boolean {
  return status >= 500 && status < 600;
}
