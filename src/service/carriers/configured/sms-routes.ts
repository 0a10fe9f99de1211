import * as z from 'zod/mini';
import type { OperatorTable } from '../../../contract/index.js';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { parseFields } from '../../parse-fields.js';
import type { Route, RoutesOf } from '../carrier.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import type { ConfigurationSource, SmsRoutes } from './configuration.js';
import { gatewayRouteOf, gatewaySchema } from './gateway-schema.js';
import type { WrittenFields } from './presets/preset.js';
import { withPreset } from './presets.js';
import { checkTogether } from './route-fields.js';
import { smppRouteOf, smppSchema } from './smpp-schema.js';

const listSchema = z.strictObject({
  routes: z.array(z.record(z.string(), z.unknown())).check(z.minLength(1)),
});

/** The routes of a configuration with their secrets. Throws ConfigurationError, or refuses a field. */
export function readSmsRoutes(value: unknown, source: ConfigurationSource): SmsRoutes {
  const { routes } = parseFields(listSchema, value, 'sms');
  const read = routes.map((written, index) => {
    const place = `sms.routes[${index}]`;
    const route = 'gateway' in written ? withPreset(written as WrittenFields, place) : written;
    if ('http' in route && 'smpp' in route)
      throw new ConfigurationError(`${place}: must have one of smpp and http`);
    return 'http' in route
      ? gatewayRouteOf(parseFields(gatewaySchema, route, place), place, source)
      : smppRouteOf(parseFields(smppSchema, route, place), place, source);
  });
  checkTogether(read);
  return { routes: read };
}

type RouteOfNumbers = Pick<SmppRoute, 'name' | 'prefixes' | 'fallback' | 'links'>;

/** Every route with prefixes, as the operator of its numbers. */
export function operatorsOf(routes: readonly RouteOfNumbers[]): OperatorTable {
  const first = routes.filter(({ prefixes }) => prefixes.length > 0);
  return Object.fromEntries(first.map(({ name, prefixes }) => [name, prefixes]));
}

/** POST /v1/sms, rule 6: a number's route, then its fallbacks. `otherwise`: for numbers whose route is gone. */
export function routesByNumber(routes: readonly RouteOfNumbers[], otherwise: Route): RoutesOf {
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
