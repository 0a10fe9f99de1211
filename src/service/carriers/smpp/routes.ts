import type { OperatorTable } from '../../../contract/index.js';
import type { Route, RoutesOf } from '../carrier.js';
import type { SmppRoute } from './route-settings.js';

/** The operators of the routes: each is called as the route that its numbers take first. */
export function operatorsOf(routes: readonly SmppRoute[]): OperatorTable {
  const first = routes.filter(({ prefixes }) => prefixes.length > 0);
  return Object.fromEntries(first.map(({ name, prefixes }) => [name, prefixes]));
}

/** POST /v1/sms, rule 6: a number's route, then its fallbacks. `otherwise`: for numbers of a route that is gone. */
export function smppRoutes(routes: readonly SmppRoute[], otherwise: Route): RoutesOf {
  const all = new Map<string, Route>(
    routes.map(({ name, links }) => [name, { name, lane: name, carriesLinks: links }]),
  );
  const known = new Map<string, [Route, ...Route[]]>();
  for (const { name, fallback } of routes) {
    const others = fallback.flatMap((other) => all.get(other) ?? []);
    known.set(name, [all.get(name) ?? otherwise, ...others]);
  }
  const none: [Route] = [otherwise];
  return ({ operator }) => known.get(operator ?? '') ?? none;
}
