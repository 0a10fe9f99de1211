import type { Bucket, RateLimiter, Taken } from './rate-limiter.js';
import type { BoundAnswer } from './records.js';
import type { Store } from './store.js';

export interface Admission {
  /** SHA-256 of the secret of an API key; or the project of a caller who is known already. */
  caller: { hash: Uint8Array } | { projectId: string; keyId: string };
  kind: string;
  /** Null lets every request pass. */
  bucket: Bucket | null;
  idempotencyKey: string | null;
}

export interface Admitted {
  projectId: string;
  keyId: string;
  /** Null without a bucket. */
  taken: Taken | null;
  /** As `findAnswer` gives it; undefined too without a key and over the rate. */
  answer: BoundAnswer | null | undefined;
}

/**
 * In the order of checks: key, rate, idempotency key. The body is read and checked after it, and may still refuse the
 * request; an answer that is bound meanwhile is found when the send is accepted. Null for a key that is unknown or
 * revoked.
 */
export async function admit(
  store: Pick<Store, 'findKey' | 'findAnswer'>,
  rateLimiter: RateLimiter,
  { caller, kind, bucket, idempotencyKey }: Admission,
): Promise<Admitted | null> {
  const known = 'hash' in caller ? await callerOf(store, caller.hash) : caller;
  if (known === null) return null;
  const taken = bucket === null ? null : await rateLimiter.take(known.projectId, kind, bucket);
  const isAllowed = taken?.allowed !== false;
  const answer =
    isAllowed && idempotencyKey !== null
      ? await store.findAnswer(known.projectId, idempotencyKey)
      : undefined;
  return { ...known, taken, answer };
}

async function callerOf(store: Pick<Store, 'findKey'>, hash: Uint8Array) {
  const key = await store.findKey(hash);
  return key === null || key.revokedAt !== null ? null : { projectId: key.projectId, keyId: key.id };
}
