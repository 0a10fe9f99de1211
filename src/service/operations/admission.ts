import { timingSafeEqual } from 'node:crypto';
import { isApiKey, type RequestKind, requestRates } from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';
import type { Admission, Admitted } from '../storage/admission.js';
import type { Bucket, Taken } from '../storage/rate-limiter.js';
import type { OperationContext } from './context.js';
import { repeatedAnswer } from './idempotency.js';
import { hashSecret } from './keys.js';
import type { AdmittedRequest, RateLimit, RequestHead } from './operations.js';

/** The checks before the body is read: key, rate (Limits, Request rate) and the answer bound to an idempotency key. */
export async function admit(
  context: OperationContext,
  { secret, kind, idempotencyKey }: RequestHead,
): Promise<AdmittedRequest | null> {
  if (!isApiKey(secret)) return null;
  const bucket = bucketOf(context, kind);
  const caller = callerOf(context, secret);
  if ('keyId' in caller && caller.keyId === 'sandbox' && !(await context.isSimulated())) return null;
  const admitted = await context.admit({ caller, kind, bucket, idempotencyKey });
  if (admitted === null) return null;
  const { projectId, keyId, scope, project, taken, answer } = admitted;
  if ('hash' in caller) context.keyUse.note(keyId);
  return {
    caller: {
      projectId,
      keyId,
      ...(project && { project: context.readProject({ id: projectId, ...project }) }),
    },
    scope,
    rateLimit: rateLimitOf(kind, taken),
    replay: replayOf(context, projectId, idempotencyKey, answer),
  };
}

/** Takes the token for a request with a session instead of a key. */
export async function takeToken(
  context: OperationContext,
  projectId: string,
  kind: RequestKind,
  idempotencyKey: string | null = null,
): Promise<Pick<AdmittedRequest, 'rateLimit' | 'replay'>> {
  const caller = { projectId, keyId: 'dashboard' };
  const admitted = await context.admit({ caller, kind, bucket: bucketOf(context, kind), idempotencyKey });
  return {
    rateLimit: rateLimitOf(kind, admitted?.taken ?? null),
    replay: replayOf(context, projectId, idempotencyKey, admitted?.answer),
  };
}

export const rateLimited = ({ retryAfter }: RateLimit): ServiceError =>
  new ServiceError('rate_limited', `Too many requests; try again in ${retryAfter} s`, { retryAfter });

const replayOf = (
  context: OperationContext,
  projectId: string,
  key: string | null,
  answer: Admitted['answer'],
): AdmittedRequest['replay'] =>
  key === null || answer === undefined ? null : () => repeatedAnswer(context, projectId, key, answer);

function bucketOf({ rates }: OperationContext, kind: RequestKind): Bucket | null {
  const { perSecond, burst } = requestRates[kind];
  return rates === 'off' ? null : { interval: 1_000 / perSecond, burst };
}

function callerOf({ ownKeys, ownProject }: OperationContext, secret: string): Admission['caller'] {
  const hash = hashSecret(secret);
  const own = ownKeys.find((key) => timingSafeEqual(hash, key.hash));
  return own === undefined ? { hash } : { projectId: ownProject, keyId: own.id };
}

function rateLimitOf(kind: RequestKind, taken: Taken | null): RateLimit {
  const { burst: limit } = requestRates[kind];
  if (taken === null) return { allowed: true, limit, remaining: limit, retryAfter: 0 };
  const { allowed, remaining, wait } = taken;
  return { allowed, limit, remaining, retryAfter: Math.ceil(wait / 1_000) };
}
