/** Milliseconds before the next try: doubling up to half a minute, spread so that requests part. */
export function backoff(tries: number, random: number): number {
  return Math.min(500 * 2 ** (tries - 1), 30_000) * (0.75 + 0.25 * random);
}

/** For a token that others take at the same time, however little `--max-wait` allows. */
const shortestWait = 1_000;

/** Milliseconds that a request may still wait for its token; `since` is its first try, null before it. */
export function timeLeft(since: number | null, maxWait: number, now: number): number {
  return Math.max(shortestWait, maxWait - (since === null ? 0 : now - since));
}
