import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { RouteRates } from '../../storage/route-limits.js';
import type { Carrier, Reservation } from '../carrier.js';
import type { GatewayRoute } from './gateway-route.js';
import { RouteRequests } from './route-requests.js';

export interface GatewayParts {
  routes: readonly GatewayRoute[];
  clock: Clock;
  limits: RouteRates;
  report: Report;
}

/** Beyond the time of a request. */
const spareMs = 5_000;
const doubtMs = 300_000;

/** SMS gateways over HTTP: a lane for each route. */
export function gatewayCarrier(parts: GatewayParts): Carrier {
  const routes = new Map(parts.routes.map((route) => [route.name, new RouteRequests({ ...parts, route })]));
  const routeOf = (name: string): RouteRequests => {
    const route = routes.get(name);
    if (route === undefined) throw new Error(`there is no route ${name}`);
    return route;
  };
  const reserve = (name: string, isSingle: boolean): Promise<Reservation | null> =>
    routeOf(name).reserve(isSingle);

  return {
    lanes: [...routes.keys()],
    submitMs: Math.max(...parts.routes.map(({ timeoutMs }) => timeoutMs)) + spareMs,
    doubtMs,
    async start() {
      for (const route of routes.values()) route.start();
    },
    async stop() {
      await Promise.all([...routes.values()].map((route) => route.stop()));
    },
    capacity: (lane) => routeOf(lane).window.capacity,
    ahead: (lane) => routeOf(lane).window.ahead,
    factor: (lane) => routeOf(lane).window.factor,
    lowerRate: (lane, answeredMs) => routeOf(lane).window.lower(answeredMs),
    reserve,
    async submit(submission, signal) {
      const reservation = await reserve(submission.route, true);
      if (reservation === null) return routeOf(submission.route).closed;
      return reservation.submit(submission, signal).finally(() => reservation.release());
    },
  };
}
