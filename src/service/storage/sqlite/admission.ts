import { type Admission, type Admitted, everyScope } from '../admission.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { SqliteStore } from './sqlite-store.js';

/** Nothing goes over a network, so each lookup waits for the check before it. */
export async function admit(
  store: Pick<SqliteStore, 'findCaller' | 'findAnswer'>,
  rateLimiter: RateLimiter,
  { caller, kind, bucket, idempotencyKey }: Admission,
): Promise<Admitted | null> {
  const known = 'hash' in caller ? await store.findCaller(caller.hash) : { ...caller, scope: everyScope };
  if (known === null) return null;
  const { projectId, keyId, scope } = known;
  const taken = bucket === null ? null : await rateLimiter.take(projectId, kind, bucket);
  const isAllowed = taken?.allowed !== false;
  const answer =
    isAllowed && idempotencyKey !== null ? await store.findAnswer(projectId, idempotencyKey) : undefined;
  return { projectId, keyId, scope, taken, answer };
}
