import { isIdempotencyKey } from '../../../contract/index.js';
import { shownLength } from '../../operations/keys.js';
import type { Operations } from '../../operations/operations.js';
import { ServiceError } from '../../service-error.js';
import { kindOf } from '../answer.js';
import type { HttpContext, Middleware } from '../context.js';

/**
 * Authentication, 1, and Limits, Request rate: one answer for every wrong key, and one token for every request with a
 * valid one, refused requests too; a key without the scope is refused whatever the rate. The answer bound to an idempotency key is kept for `replayAnswer`.
 */
export function admit(operations: Operations): Middleware {
  return async (context, next) => {
    const kind = kindOf(context.req.method);
    const secret = secretOf(context);
    const idempotencyKey = kind === 'sending' ? idempotencyKeyOf(context) : null;
    const admitted = secret === null ? null : await operations.admit({ secret, kind, idempotencyKey });
    if (admitted === null) throw new ServiceError('unauthorized', 'A valid API key is required');
    const { notes } = context.env;
    if (notes !== undefined && secret !== null) notes.keyPrefix = secret.slice(0, shownLength);
    const { allowed, limit, remaining, retryAfter } = admitted.rateLimit;
    context.set('rateLimit', { limit, remaining });
    if (!admitted.scope.includes(scopes[kind]))
      throw new ServiceError('forbidden', 'The request is outside the scope of this API key');
    if (!allowed) {
      throw new ServiceError('rate_limited', `Too many requests; try again in ${retryAfter} s`, {
        retryAfter,
      });
    }
    context.set('caller', admitted.caller);
    context.set('replay', admitted.replay);
    return next();
  };
}

const scopes = { sending: 'send', reading: 'read' } as const;

/** From `Authorization: Bearer <key>`. */
function secretOf(context: HttpContext): string | null {
  return /^bearer ([\x21-\x7e]{1,255})$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? null;
}

/** Null for a malformed key too, which is refused only after the body. */
function idempotencyKeyOf(context: HttpContext): string | null {
  const key = context.req.header('idempotency-key') ?? '';
  return isIdempotencyKey(key) ? key : null;
}
