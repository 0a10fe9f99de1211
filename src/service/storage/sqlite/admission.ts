import { type Admission, type Admitted, everyScope } from '../admission.js';
import type { RateLimiter } from '../rate-limiter.js';
import type { SqliteStore } from './sqlite-store.js';

/** An answer bound after this look-up is found when the send is accepted. */
export async function admit(
  store: Pick<SqliteStore, 'findCaller' | 'findAnswer'>,
  rateLimiter: RateLimiter,
  { caller, kind, bucket, idempotencyKey }: Admission,
): Promise<Admitted | null> {
  const findAnswer = async (projectId: string) =>
    idempotencyKey === null ? undefined : store.findAnswer(projectId, idempotencyKey);
  const found =
    'hash' in caller
      ? await store.findCaller(caller.hash, idempotencyKey)
      : { ...caller, scope: everyScope, project: null, answer: await findAnswer(caller.projectId) };
  if (found === null) return null;
  const { projectId, keyId, scope, project } = found;
  const taken = bucket === null ? null : await rateLimiter.take(projectId, kind, bucket);
  const answer = taken?.allowed === false ? undefined : found.answer;
  return { projectId, keyId, scope, project, taken, answer };
}
