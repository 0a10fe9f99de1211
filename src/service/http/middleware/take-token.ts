import type { Operations } from '../../operations/operations.js';
import { ServiceError } from '../../service-error.js';
import { kindOf } from '../answer.js';
import type { Middleware } from '../context.js';

/** Limits, Request rate: every request takes one token of its project, refused ones too. */
export function takeToken(operations: Operations): Middleware {
  return async (context, next) => {
    const kind = kindOf(context.req.method);
    const { allowed, limit, remaining, retryAfter } = await operations.takeToken(
      context.get('caller').projectId,
      kind,
    );
    context.set('rateLimit', { limit, remaining });
    if (!allowed) {
      throw new ServiceError('rate_limited', `Too many requests; try again in ${retryAfter} s`, {
        retryAfter,
      });
    }
    return next();
  };
}
