import type { Channel, OperatorTable } from '../../../contract/index.js';
import type { Clock } from '../../clock.js';
import { ConfigurationError } from '../../errors/configuration-error.js';
import type { Random } from '../../random.js';
import type { Report } from '../../report.js';
import type { Instances } from '../../storage/instances.js';
import type { RateLimiter } from '../../storage/rate-limiter.js';
import type { RouteBinds, RouteDays } from '../../storage/route-limits.js';
import type { Store } from '../../storage/store.js';
import { type Carrier, emailLane, type RoutesOf } from '../carrier.js';
import { isGateway } from '../http/gateway-route.js';
import { dial } from '../smpp/connection/dial.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import { sharedRouteLimits } from '../smpp/shared-limits.js';
import { smppCarrier } from '../smpp/smpp.js';
import { emailRoutes, smtpCarrier } from '../smtp/smtp.js';
import type { CarrierConfiguration } from './configuration.js';
import { retiredLanes, unrouted } from './retired-lanes.js';
import { operatorsOf, routesByNumber } from './sms-routes.js';

export interface CarrierParts {
  configuration: CarrierConfiguration;
  /** Serves the channels that are `simulated` in the configuration. */
  simulated: Carrier;
  simulatedRoutes: RoutesOf;
  /** Lanes of real carriers that the store has ever been served with. */
  recordedLanes: readonly string[];
  /** Signs the addresses that bounces go to. */
  bounceKey: Uint8Array;
  store: RouteBinds & RouteDays & Pick<Store, 'findMessage'>;
  instances: Pick<Instances, 'list'>;
  rateLimiter: RateLimiter;
  /** Unique to this service object. */
  owner: string;
  clock: Clock;
  random: Random;
  report: Report;
}

export interface Carriers {
  carriers: readonly Carrier[];
  routesOf: RoutesOf;
  /** Of the routes; null to use those in each project's settings. */
  operators: OperatorTable | null;
  /** Channels that refuse every send. */
  off: readonly Channel[];
  /** Lanes whose messages leave this machine. */
  realLanes: readonly string[];
  /** Those over SMPP. */
  smppLanes: readonly string[];
}

/** What the alphabet of a route costs. */
const alphabetNotes: Readonly<Record<SmppRoute['alphabet'], string | null>> = {
  gsm: null,
  latin1: 'texts with € or Greek letters can need more segments than parts are charged',
  ascii: 'texts with accents, €, £ or Greek letters can need more segments than parts are charged',
  ucs2: 'Latin texts can need three segments for each part charged',
};

/** The carriers of a configuration. Throws ConfigurationError if a store with real messages would be simulated. */
export async function createCarriers(parts: CarrierParts): Promise<Carriers> {
  const { configuration, simulated, simulatedRoutes, recordedLanes, bounceKey, ...given } = parts;
  const { clock, random, report } = given;
  const tools = { clock, random, report };
  const { sms, email } = configuration;
  const isReal = {
    sms: recordedLanes.some((lane) => lane !== emailLane),
    email: recordedLanes.includes(emailLane),
  };
  for (const channel of ['sms', 'email'] as const) {
    if (configuration[channel] === 'simulated' && isReal[channel])
      throw new ConfigurationError(
        `${channel}: must not be "simulated": this data was served with a real carrier`,
      );
  }
  const routes = typeof sms === 'object' ? sms.routes : [];
  const gateways = routes.filter(isGateway);
  const smpp = routes.filter((route): route is SmppRoute => !isGateway(route));
  for (const route of smpp) {
    const note = alphabetNotes[route.alphabet];
    if (note !== null)
      report(new Error(`SMPP route ${route.name}, alphabet ${route.alphabet}: ${note}`), {
        level: 'warning',
      });
  }
  const limits = sharedRouteLimits(given);
  // The recipient of a pruned message is empty.
  const recipientOf = async (messageId: string) => (await given.store.findMessage(messageId))?.to || null;
  const carriers: Carrier[] = [];
  if (smpp.length > 0) carriers.push(smppCarrier({ routes: smpp, ...tools, limits, dial }));
  if (gateways.length > 0) {
    // Loaded late: most services have none.
    const { gatewayCarrier } = await import('../http/gateway.js');
    carriers.push(gatewayCarrier({ routes: gateways, ...tools, limits: given.rateLimiter, recipientOf }));
  }
  if (typeof email === 'object')
    carriers.push(
      smtpCarrier({ settings: email, bounceKey, ...tools, limits: given.rateLimiter, days: given.store }),
    );
  const simulatedLanes = simulated.lanes.filter((lane) => (lane === emailLane ? email : sms) === 'simulated');
  if (simulatedLanes.length > 0) carriers.push({ ...simulated, lanes: simulatedLanes });
  const served = carriers.flatMap(({ lanes }) => lanes);
  const unserved = [...new Set([...recordedLanes, ...simulated.lanes])].filter(
    (lane) => !served.includes(lane),
  );
  const moving = routes.length > 0 ? unserved.filter((lane) => lane !== emailLane) : [];
  carriers.push(
    retiredLanes(
      moving,
      unserved.filter((lane) => !moving.includes(lane)),
    ),
  );
  const unroutedOnly: RoutesOf = () => [unrouted];
  const simulatedOr = (channel: Channel, other: RoutesOf) =>
    configuration[channel] === 'simulated' ? simulatedRoutes : other;
  const routesOf = {
    sms: simulatedOr('sms', routes.length > 0 ? routesByNumber(routes, unrouted) : unroutedOnly),
    email: simulatedOr('email', typeof email === 'object' ? emailRoutes : unroutedOnly),
  };
  return {
    carriers,
    routesOf: (message, settings) => routesOf[message.channel](message, settings),
    operators: routes.length > 0 ? operatorsOf(routes) : null,
    off: (['sms', 'email'] as const).filter((channel) => configuration[channel] === 'off'),
    smppLanes: smpp.map(({ name }) => name),
    realLanes: [...routes.map(({ name }) => name), ...(typeof email === 'object' ? [emailLane] : [])],
  };
}
