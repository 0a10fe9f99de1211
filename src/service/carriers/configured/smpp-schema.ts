import * as z from 'zod/mini';
import { ConfigurationError } from '../../configuration-error.js';
import { prefix, rule } from '../../parse-fields.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import type { ConfigurationSource } from './configuration.js';
import { unrouted } from './retired-lanes.js';
import { readSecret, writtenSecret } from './secrets.js';
import { type ServerAddress, serverAddressOf } from './server-address.js';

const within = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));
const line = (max: number) =>
  z.string().check(
    z.maxLength(max),
    rule((text) => /^[\x20-\x7e]*$/.test(text), 'must be printable ASCII'),
  );
const name = z.string().check(
  z.minLength(1),
  z.maxLength(40),
  rule((text) => !/[\p{Cc}\p{Cs}/]/u.test(text), 'must be one line without a slash'),
);

/** Names that stand for something else wherever a route or a lane is named. */
const reservedNames = ['sms', 'email', unrouted.name];
const addressOf = (written: string) => serverAddressOf(written, { 'smpp:': 2775, 'smpp+tls:': 3550 });
const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const maxValidityMs = 14 * 86_400_000;

export const smsSchema = z.strictObject({
  routes: z
    .array(
      z.strictObject({
        name: name.check(rule((text) => !reservedNames.includes(text), 'is a reserved name')),
        smpp: z
          .string()
          .check(
            rule(
              (text) => addressOf(text) !== null,
              'must be smpp://<host>:<port> or smpp+tls://<host>:<port>',
            ),
          ),
        system_id: line(15).check(z.minLength(1)),
        password: writtenSecret,
        bind: z._default(z.enum(['transceiver', 'transmitter+receiver']), 'transceiver'),
        binds: z._default(within(1, 10), 1),
        system_type: z._default(line(12), ''),
        source: z._default(line(20), ''),
        source_ton: z._default(within(0, 6), 0),
        source_npi: z._default(within(0, 18), 0),
        dest_ton: z._default(within(0, 6), 1),
        dest_npi: z._default(within(0, 18), 1),
        number_form: z._default(z.enum(['international', 'national']), 'international'),
        alphabet: z._default(z.enum(['gsm']), 'gsm'),
        segments: z._default(z.enum(['udh', 'sar', 'payload']), 'udh'),
        validity: z._default(
          z.string().check(rule((text) => validityMsOf(text) !== null, 'must be 1m to 14d, as 24h')),
          '24h',
        ),
        validity_format: z._default(z.enum(['relative', 'absolute']), 'relative'),
        receipt_id: z._default(z.enum(['same', 'hex_to_dec', 'dec_to_hex']), 'same'),
        window: z._default(within(1, 50), 10),
        per_second: z._default(within(1, 20_000), 100),
        prefixes: z._default(z.array(prefix), []),
        fallback: z._default(z.array(z.string()), []),
        links: z._default(z.boolean(), true),
        inbox_project: z.optional(z.string().check(z.minLength(1))),
      }),
    )
    .check(z.minLength(1)),
});
type WrittenRoute = z.infer<typeof smsSchema>['routes'][number];

/** The routes with their secrets. Throws ConfigurationError. */
export function smppRoutesOf(routes: readonly WrittenRoute[], source: ConfigurationSource): SmppRoute[] {
  checkTogether(routes);
  return routes.map((route, index) => ({
    name: route.name,
    ...connectionOf(addressOf(route.smpp) as ServerAddress),
    systemId: route.system_id,
    password: readSecret(route.password, `sms.routes[${index}].password`, source),
    systemType: route.system_type,
    bind: route.bind,
    binds: route.binds,
    source: route.source,
    sourceTon: route.source_ton,
    sourceNpi: route.source_npi,
    destTon: route.dest_ton,
    destNpi: route.dest_npi,
    numberForm: route.number_form,
    segments: route.segments,
    validityMs: validityMsOf(route.validity) as number,
    validityFormat: route.validity_format,
    receiptId: route.receipt_id,
    window: route.window,
    perSecond: route.per_second,
    prefixes: route.prefixes,
    fallback: route.fallback,
    links: route.links,
    inboxProject: route.inbox_project ?? null,
  }));
}

function checkTogether(routes: readonly WrittenRoute[]): void {
  const fail = (index: number, field: string, problem: string): never => {
    throw new ConfigurationError(`sms.routes[${index}].${field}: ${problem}`);
  };
  const names = routes.map((route) => route.name);
  const ownerOf = new Map<string, string>();
  const fallbacks = new Set(routes.flatMap(({ fallback }) => fallback));
  routes.forEach(({ name, prefixes, fallback }, index) => {
    if (names.indexOf(name) !== index) fail(index, 'name', 'is the name of another route');
    for (const prefix of prefixes) {
      const owner = ownerOf.get(prefix);
      if (owner !== undefined) fail(index, 'prefixes', `${prefix} belongs to ${owner} already`);
      ownerOf.set(prefix, name);
    }
    for (const other of fallback) {
      if (!names.includes(other)) fail(index, 'fallback', `there is no route ${JSON.stringify(other)}`);
      if (other === name) fail(index, 'fallback', 'must not name the route itself');
    }
    if (prefixes.length === 0 && !fallbacks.has(name))
      fail(index, 'prefixes', 'is required: no other route names this one as its fallback');
  });
}

function connectionOf({ protocol, host, port }: ServerAddress) {
  return { host, port, tls: protocol === 'smpp+tls:' };
}

function validityMsOf(written: string): number | null {
  const [, count, unit] = /^([1-9][0-9]{0,4})([mhd])$/.exec(written) ?? [];
  const milliseconds = Number(count) * (unitsMs[unit ?? ''] ?? Number.NaN);
  return milliseconds <= maxValidityMs ? milliseconds : null;
}
