/** Milliseconds before the next attempt: doubled up to half a minute, and spread so that requests do not coincide. */
export function backoff(tries: number, random: number): number {
  return Math.min(500 * 2 ** (tries - 1), 30_000) * (0.75 + 0.25 * random);
}

/** The least time to wait for a token, whatever `--max-wait` is: other processes take tokens too. */
const shortestWait = 1_000;

/** Milliseconds that a request may still wait for its token; `since` is its first attempt, null before that. */
export function timeLeft(since: number | null, maxWait: number, now: number): number {
  return Math.max(shortestWait, maxWait - (since === null ? 0 : now - since));
}
