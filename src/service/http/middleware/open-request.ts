import { fullRateLimit, kindOf } from '../answer.js';
import type { Middleware } from '../context.js';

/** Gives the request its id, and the unused rate limit until its project is known. */
export function openRequest(newId: () => string): Middleware {
  return (context, next) => {
    context.set('requestId', newId());
    context.set('rateLimit', fullRateLimit(kindOf(context.req.method)));
    return next();
  };
}
