import { type RequestKind, requestRates } from '../../contract/index.js';
import type { OperationContext } from './context.js';
import type { RateLimit } from './operations.js';

/** Takes one token of a project's request rate (Limits, Request rate). */
export async function takeToken(
  { rateLimiter, rates }: OperationContext,
  projectId: string,
  kind: RequestKind,
): Promise<RateLimit> {
  const { perSecond, burst } = requestRates[kind];
  if (rates === 'off') return { allowed: true, limit: burst, remaining: burst, retryAfter: 0 };
  const bucket = { interval: 1_000 / perSecond, burst };
  const { allowed, remaining, wait } = await rateLimiter.take(projectId, kind, bucket);
  return { allowed, limit: burst, remaining, retryAfter: Math.ceil(wait / 1_000) };
}
