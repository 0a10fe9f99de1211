/** The rate limit that a request counted towards (Limits, Request rate). */
export interface RateLimit {
  /** X-RateLimit-Limit: the burst. */
  limit: number;
  /** X-RateLimit-Remaining: requests that can still be made at once. */
  remaining: number;
}

/**
 * Null unless both headers are whole numbers.
 * @internal
 */
export function rateLimitOf(header: (name: string) => string | null): RateLimit | null {
  const limit = header('x-ratelimit-limit');
  const remaining = header('x-ratelimit-remaining');
  if (limit === null || remaining === null || !/^\d+$/.test(limit) || !/^\d+$/.test(remaining)) return null;
  return { limit: Number(limit), remaining: Number(remaining) };
}
