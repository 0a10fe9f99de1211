import { isIdempotencyKey } from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';
import { rateLimited } from '../operations/admission.js';
import { keyPrefixLength } from '../operations/keys.js';
import type { KeyScope, Operations } from '../operations/operations.js';
import { kindOf } from './answer.js';
import type { AdmittedCall, ApiRequest, Call } from './call.js';
import { noSuchRoute } from './route-table.js';

/**
 * Authentication, 1, and Limits, Request rate: the same answer for every invalid key, and a token taken for every
 * request with a valid one, even if it is refused; a key without the scope is refused regardless of the rate. The
 * answer bound to an idempotency key is kept for the route. `ownScopes`: of a route that has its own, any of which is
 * enough; null if it is not there.
 */
export async function admit(
  operations: Operations,
  call: Call,
  ownScopes?: () => Promise<readonly KeyScope[] | null>,
): Promise<AdmittedCall> {
  const { request, notes } = call;
  const kind = kindOf(request.method);
  const secret = secretOf(request);
  const idempotencyKey = kind === 'sending' ? wellFormedKeyOf(request) : null;
  const admitted = secret === null ? null : await operations.admit({ secret, kind, idempotencyKey });
  if (admitted === null) throw new ServiceError('unauthorized', 'A valid API key is required');
  if (notes && secret !== null) notes.keyPrefix = secret.slice(0, keyPrefixLength);
  const { allowed, limit, remaining } = admitted.rateLimit;
  call.rateLimit = { limit, remaining };
  const allowedTo = ownScopes === undefined ? [scopes[kind]] : await ownScopes();
  const { caller, scope, replay } = admitted;
  if (allowedTo !== null && !allowedTo.some((each) => scope.includes(each)))
    throw new ServiceError('forbidden', 'The request is outside the scope of this API key');
  if (!allowed) throw rateLimited(admitted.rateLimit);
  if (allowedTo === null) throw noSuchRoute();
  return { ...call, caller, scope, replay };
}

const scopes = { sending: 'send', reading: 'read' } as const;

/** From `Authorization: Bearer <key>`. */
function secretOf({ headers }: ApiRequest): string | null {
  return /^bearer ([\x21-\x7e]{1,255})$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

/** Null for a malformed key too, which is refused only after the body. */
function wellFormedKeyOf({ headers }: ApiRequest): string | null {
  const key = headers.get('idempotency-key') ?? '';
  return isIdempotencyKey(key) ? key : null;
}
