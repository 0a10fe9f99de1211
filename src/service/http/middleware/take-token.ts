import type { Operations } from '../../operations/operations.js';
import { ServiceError } from '../../service-error.js';
import { kindOf } from '../answer.js';
import type { Middleware } from '../context.js';

/** Limits, Request rate: one token of the project's allowance for each request, whatever becomes of it. */
export function takeToken(operations: Operations): Middleware {
  return async (context, next) => {
    const kind = kindOf(context.req.method);
    const { allowed, limit, remaining, retryAfter } = await operations.takeToken(
      context.get('caller').projectId,
      kind,
    );
    context.set('rateLimit', { limit, remaining });
    if (!allowed) {
      throw new ServiceError('rate_limited', `too many requests: wait ${retryAfter} s`, {
        retryAfter,
      });
    }
    return next();
  };
}
