import * as z from 'zod/mini';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { rule } from '../../parse-fields.js';
import { writtenStatus } from '../smpp/codec/commands.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import type { ConfigurationSource } from './configuration.js';
import { durationMs, routeFields, within } from './route-fields.js';
import { readSecret, writtenSecret } from './secrets.js';
import { type ServerAddress, serverAddressOf } from './server-address.js';

const line = (max: number) =>
  z.string().check(
    z.maxLength(max),
    rule((text) => /^[\x20-\x7e]*$/.test(text), 'must be printable ASCII'),
  );
const addressOf = (written: string) => serverAddressOf(written, { 'smpp:': 2775, 'smpp+tls:': 3550 });
const writtenStatuses = z._default(
  z
    .array(
      z.union([z.number(), z.string()]).check(
        z.refine((written) => statusOf(written) !== null, {
          error: 'must be a status other than 0, as "0x45"',
        }),
      ),
    )
    .check(z.maxLength(100)),
  [],
);
const maxValidityMs = 14 * 86_400_000;
const enquireMs = { least: 5_000, most: 600_000 };

/** A route over SMPP. */
export const smppSchema = z.strictObject({
  ...routeFields,
  smpp: z
    .string()
    .check(
      rule((text) => addressOf(text) !== null, 'must be smpp://<host>:<port> or smpp+tls://<host>:<port>'),
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
  validity: z._default(
    z.string().check(rule((text) => validityMsOf(text) !== null, 'must be 1m to 14d, as 24h')),
    '24h',
  ),
  validity_format: z._default(z.enum(['relative', 'absolute']), 'relative'),
  receipt_id: z._default(z.enum(['same', 'hex_to_dec', 'dec_to_hex']), 'same'),
  permanent: writtenStatuses,
  temporary: writtenStatuses,
  window: z._default(within(1, 50), 10),
  per_second: z._default(within(1, 20_000), 100),
  enquire_interval: z._default(
    z.string().check(rule((text) => enquireMsOf(text) !== null, 'must be 5s to 10m, as 30s')),
    '30s',
  ),
  tlvs: z._default(z.enum(['on', 'off']), 'on'),
});

/** The route with its secret; `place` is its name in errors. Throws ConfigurationError. */
export function smppRouteOf(
  route: z.infer<typeof smppSchema>,
  place: string,
  source: ConfigurationSource,
): SmppRoute {
  const hasTlvs = route.tlvs === 'on';
  if (!hasTlvs && route.segments !== 'udh')
    throw new ConfigurationError(`${place}.tlvs: must not be "off": segments "${route.segments}" needs them`);
  return {
    name: route.name,
    ...connectionOf(addressOf(route.smpp) as ServerAddress),
    systemId: route.system_id,
    password: readSecret(route.password, `${place}.password`, source),
    systemType: route.system_type,
    addressRange: route.address_range,
    serviceType: route.service_type,
    bind: route.bind,
    binds: route.binds,
    source: route.source,
    sourceTon: route.source_ton,
    sourceNpi: route.source_npi,
    destTon: route.dest_ton,
    destNpi: route.dest_npi,
    numberForm: route.number_form,
    alphabet: route.alphabet,
    segments: route.segments,
    validityMs: validityMsOf(route.validity) as number,
    validityFormat: route.validity_format,
    receiptId: route.receipt_id,
    ...statusLists(route, place),
    window: route.window,
    perSecond: route.per_second,
    enquireMs: enquireMsOf(route.enquire_interval) as number,
    hasTlvs,
    prefixes: route.prefixes,
    fallback: route.fallback,
    links: route.links,
    inboxProject: route.inbox_project ?? null,
  };
}

function connectionOf({ protocol, host, port }: ServerAddress) {
  return { host, port, tls: protocol === 'smpp+tls:' };
}

function validityMsOf(written: string): number | null {
  const milliseconds = durationMs(written, 'mhd');
  return milliseconds !== null && milliseconds <= maxValidityMs ? milliseconds : null;
}

function enquireMsOf(written: string): number | null {
  const milliseconds = durationMs(written, 'sm');
  const { least, most } = enquireMs;
  return milliseconds !== null && milliseconds >= least && milliseconds <= most ? milliseconds : null;
}

function statusLists(
  { permanent, temporary }: z.infer<typeof smppSchema>,
  place: string,
): Pick<SmppRoute, 'permanent' | 'temporary'> {
  const read = (written: readonly (string | number)[]) => written.map((one) => statusOf(one) as number);
  const lists = { permanent: read(permanent), temporary: read(temporary) };
  const inBoth = lists.permanent.find((status) => lists.temporary.includes(status));
  if (inBoth !== undefined)
    throw new ConfigurationError(`${place}.temporary: ${writtenStatus(inBoth)} is in permanent too`);
  return lists;
}

/** A number, or hexadecimal as the specification writes it: decimal digits in a string could be either. */
function statusOf(written: string | number): number | null {
  const status = typeof written === 'number' || /^0x[0-9a-f]{1,8}$/i.test(written) ? Number(written) : 0;
  return Number.isInteger(status) && status > 0 && status <= 0xffffffff ? status : null;
}
