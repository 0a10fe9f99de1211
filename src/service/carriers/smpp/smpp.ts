import type { Duplex } from 'node:stream';
import { atMost, type Clock } from '../../clock.js';
import type { Random } from '../../random.js';
import type { Report } from '../../report.js';
import type { Receipt } from '../../storage/store.js';
import type { Carrier, CarrierFigures, Incoming, Reservation } from '../carrier.js';
import { RouteConnection } from './connection/route-connection.js';
import type { RouteLimits } from './limits.js';
import type { SmppRoute } from './route-settings.js';
import { notConnected } from './submission.js';

export interface SmppParts {
  routes: readonly SmppRoute[];
  clock: Clock;
  random: Random;
  limits: RouteLimits;
  report: Report;
  dial(route: SmppRoute, onConnected: () => void): Duplex;
}

const submitMs = 60_000;
const doubtMs = 300_000;
/** Milliseconds that starting waits for connections. */
const startMs = 3_000;

async function notTaken(): Promise<never> {
  throw new Error('the service does not take incoming messages');
}

/** Mobile operators over SMPP 3.4, with a lane for each route. */
export function smppCarrier(parts: SmppParts): Carrier {
  const { clock } = parts;
  let onReceipt: (receipt: Receipt) => Promise<void> = async () => {};
  let onIncoming: (incoming: Incoming) => Promise<void> = notTaken;
  let figures: CarrierFigures | undefined;
  const routes = new Map(
    parts.routes.map((route) => [
      route.name,
      new RouteConnection({
        ...parts,
        route,
        onReceipt: (receipt) => onReceipt(receipt),
        onIncoming: (incoming) => onIncoming(incoming),
        figures: {
          unread: (...given) => figures?.unread(...given),
          beyondParts: (...given) => figures?.beyondParts(...given),
        },
      }),
    ]),
  );
  const routeOf = (name: string): RouteConnection => {
    const route = routes.get(name);
    if (route === undefined) throw new Error(`there is no route ${name}`);
    return route;
  };
  const reserve = (name: string, isSingle: boolean): Promise<Reservation | null> =>
    routeOf(name).reserve(isSingle);

  return {
    lanes: parts.routes.map(({ name }) => name),
    submitMs,
    doubtMs,
    async start(receive, keep = notTaken, counts) {
      figures = counts;
      onReceipt = receive;
      onIncoming = keep;
      await atMost(clock, startMs, Promise.all([...routes.values()].map((route) => route.start())));
    },
    async stop() {
      await Promise.all([...routes.values()].map((route) => route.stop()));
    },
    capacity: (lane) => routeOf(lane).window.capacity,
    ahead: (lane) => routeOf(lane).window.ahead,
    factor: (lane) => routeOf(lane).window.factor,
    lowerRate: (lane, answeredMs) => routeOf(lane).window.lower(answeredMs),
    isDown: (lane) => routeOf(lane).isDown,
    reserve,
    async submit(submission, signal) {
      const reservation = await reserve(submission.route, true);
      if (reservation === null) return notConnected(submission.route);
      return reservation.submit(submission, signal).finally(() => reservation.release());
    },
  };
}
