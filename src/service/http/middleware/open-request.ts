import { fullRateLimit, kindOf } from '../answer.js';
import type { HttpContext, Middleware } from '../context.js';

/** Gives the request its id, and the unused rate limit until its project is known. */
export function openRequest(newId: () => string): Middleware {
  return (context, next) => {
    const requestId = newId();
    context.set('requestId', requestId);
    const { notes } = context.env;
    if (notes !== undefined) {
      notes.requestId = requestId;
      notes.route = routeOf(context);
    }
    context.set('rateLimit', fullRateLimit(kindOf(context.req.method)));
    return next();
  };
}

/** Routes by the path of a request, of those without a parameter: looking them up takes time. */
const fixedRoutes = new Map<string, string>();

function routeOf({ req }: HttpContext): string | null {
  const known = fixedRoutes.get(req.path);
  if (known !== undefined) return known;
  const route = req.matchedRoutes.at(-1)?.path ?? '*';
  if (route.endsWith('*')) return null;
  if (route === req.path) fixedRoutes.set(route, route);
  return route;
}
