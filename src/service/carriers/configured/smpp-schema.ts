import * as z from 'zod/mini';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { rule } from '../../parse-fields.js';
import { writtenStatus } from '../smpp/codec/commands.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import type { ConfigurationSource } from './configuration.js';
import { camelCased, duration, routeFields, within } from './route-fields.js';
import { readSecret, writtenSecret } from './secrets.js';
import { serverAddress } from './server-address.js';

const line = (max: number) =>
  z.string().check(
    z.maxLength(max),
    rule((text) => /^[\x20-\x7e]*$/.test(text), 'must be printable ASCII'),
  );
const status = z.pipe(
  z.union([z.number(), z.string()]).check(
    z.refine((written) => statusOf(written) !== null, {
      error: 'must be a status other than 0, as "0x45"',
    }),
  ),
  z.transform((written) => statusOf(written) as number),
);
const statuses = z._default(z.array(status).check(z.maxLength(100)), []);

/** A route over SMPP. */
export const smppSchema = z.strictObject({
  ...routeFields,
  smpp: serverAddress(
    { 'smpp:': 2775, 'smpp+tls:': 3550 },
    'must be smpp://<host>:<port> or smpp+tls://<host>:<port>',
  ),
  system_id: line(15).check(z.minLength(1)),
  password: writtenSecret,
  bind: z._default(z.enum(['transceiver', 'transmitter+receiver']), 'transceiver'),
  binds: z._default(within(1, 10), 1),
  system_type: z._default(line(12), ''),
  address_range: z._default(line(40), ''),
  service_type: z._default(line(5), ''),
  source: z._default(line(20), ''),
  source_ton: z._default(within(0, 6), 0),
  source_npi: z._default(within(0, 18), 0),
  dest_ton: z._default(within(0, 6), 1),
  dest_npi: z._default(within(0, 18), 1),
  number_form: z._default(z.enum(['international', 'national']), 'international'),
  alphabet: z._default(z.enum(['gsm', 'latin1', 'ascii', 'ucs2']), 'gsm'),
  segments: z._default(z.enum(['udh', 'sar', 'payload']), 'udh'),
  validity: z.prefault(duration('mhd', 60_000, 14 * 86_400_000, 'must be 1m to 14d, as 24h'), '24h'),
  validity_format: z._default(z.enum(['relative', 'absolute']), 'relative'),
  receipt_id: z._default(z.enum(['same', 'hex_to_dec', 'dec_to_hex']), 'same'),
  permanent: statuses,
  temporary: statuses,
  window: z._default(within(1, 50), 10),
  per_second: z._default(within(1, 20_000), 100),
  enquire_interval: z.prefault(duration('sm', 5_000, 600_000, 'must be 5s to 10m, as 30s'), '30s'),
  tlvs: z._default(z.enum(['on', 'off']), 'on'),
});

/** The route with its secret; `place` is its name in errors. Throws ConfigurationError. */
export function smppRouteOf(
  route: z.infer<typeof smppSchema>,
  place: string,
  source: ConfigurationSource,
): SmppRoute {
  const { smpp, validity, enquire_interval, tlvs, ...fields } = route;
  const hasTlvs = tlvs === 'on';
  if (!hasTlvs && route.segments !== 'udh')
    throw new ConfigurationError(`${place}.tlvs: must not be "off": segments "${route.segments}" needs them`);
  const inBoth = route.permanent.find((status) => route.temporary.includes(status));
  if (inBoth !== undefined)
    throw new ConfigurationError(`${place}.temporary: ${writtenStatus(inBoth)} is in permanent too`);
  return {
    ...camelCased(fields),
    ...{ host: smpp.host, port: smpp.port, tls: smpp.protocol === 'smpp+tls:' },
    ...{ validityMs: validity, enquireMs: enquire_interval, hasTlvs },
    password: readSecret(route.password, `${place}.password`, source),
    inboxProject: route.inbox_project ?? null,
  };
}

/** A number, or hexadecimal as the specification writes it: decimal digits in a string could be either. */
function statusOf(written: string | number): number | null {
  const status = typeof written === 'number' || /^0x[0-9a-f]{1,8}$/i.test(written) ? Number(written) : 0;
  return Number.isInteger(status) && status > 0 && status <= 0xffffffff ? status : null;
}
