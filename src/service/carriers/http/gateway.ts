import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { RouteRates } from '../../storage/route-limits.js';
import type { Receipt } from '../../storage/store.js';
import type { Carrier, Incoming, Reservation } from '../carrier.js';
import { takeRequest } from './gateway-requests.js';
import type { GatewayRoute } from './gateway-route.js';
import { RouteRequests } from './route-requests.js';

export interface GatewayParts {
  routes: readonly GatewayRoute[];
  clock: Clock;
  limits: RouteRates;
  report: Report;
  /** The recipient of a message, by its id; null if there is no such message. */
  recipientOf(messageId: string): Promise<string | null>;
}

/** Added to the timeout of a request. */
const spareMs = 5_000;
const doubtMs = 300_000;
/** Requests of gateways that are being stored; further ones are refused for now. */
const mostTaken = 1_000;

async function notTaken(): Promise<never> {
  throw new Error('the service is stopped');
}

/** SMS gateways over HTTP, with a lane for each route. */
export function gatewayCarrier(parts: GatewayParts): Carrier {
  const routes = new Map(parts.routes.map((route) => [route.name, new RouteRequests({ ...parts, route })]));
  let onReceipt: (receipt: Receipt) => Promise<void> = notTaken;
  let onIncoming: (incoming: Incoming) => Promise<void> = notTaken;
  let taken = 0;
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
    async start(receive, keep = notTaken) {
      onReceipt = receive;
      onIncoming = keep;
      for (const route of routes.values()) route.start();
    },
    async stop() {
      onReceipt = notTaken;
      onIncoming = notTaken;
      await Promise.all([...routes.values()].map((route) => route.stop()));
    },
    capacity: (lane) => routeOf(lane).window.capacity,
    ahead: (lane) => routeOf(lane).window.ahead,
    factor: (lane) => routeOf(lane).window.factor,
    lowerRate: (lane, answeredMs) => routeOf(lane).window.lower(answeredMs),
    reserve,
    repeatsOf: (name) => routeOf(name).repeats,
    async take(request, onUnread = () => {}) {
      if (taken >= mostTaken) return false;
      taken += 1;
      const { recipientOf, report } = parts;
      const route = parts.routes.find(({ name }) => name === request.route);
      try {
        return await takeRequest(route, request, {
          ...{ recipientOf, onReceipt, onIncoming, onUnread },
        });
      } catch (error) {
        report(error, { level: 'warning' });
        return false;
      } finally {
        taken -= 1;
      }
    },
    async submit(submission, signal) {
      const reservation = await reserve(submission.route, true);
      if (reservation === null) return routeOf(submission.route).closed;
      return reservation.submit(submission, signal).finally(() => reservation.release());
    },
  };
}
