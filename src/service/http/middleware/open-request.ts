import { fullRateLimit, kindOf } from '../answer.js';
import type { Middleware } from '../context.js';

/** Gives the request its id, and the unused rate limit until its project is known. */
export function openRequest(newId: () => string): Middleware {
  return (context, next) => {
    const requestId = newId();
    context.set('requestId', requestId);
    const { notes } = context.env;
    if (notes !== undefined) {
      notes.requestId = requestId;
      const path = context.req.matchedRoutes.at(-1)?.path ?? '*';
      notes.route = path.endsWith('*') ? null : path;
    }
    context.set('rateLimit', fullRateLimit(kindOf(context.req.method)));
    return next();
  };
}
