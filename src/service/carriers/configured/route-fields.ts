import * as z from 'zod/mini';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { prefix, rule } from '../../parse-fields.js';
import { unrouted } from './retired-lanes.js';

export const within = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

/** Names with another meaning wherever a route or a lane is named. */
const reservedNames = ['sms', 'email', unrouted.name];
const name = z.string().check(
  z.minLength(1),
  z.maxLength(40),
  rule((text) => !/[\p{Cc}\p{Cs}/]/u.test(text), 'must be one line without a slash'),
  rule((text) => !reservedNames.includes(text), 'is a reserved name'),
);

/** The fields of every SMS route, whatever its protocol. */
export const routeFields = {
  name,
  prefixes: z._default(z.array(prefix), []),
  fallback: z._default(z.array(z.string()), []),
  links: z._default(z.boolean(), true),
  inbox_project: z.optional(z.string().check(z.minLength(1))),
};

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `24h`, `7d`, read as milliseconds, of which there may be `least` to `most`. */
export const duration = (units: string, least: number, most: number, problem: string) =>
  z.pipe(
    z.string().check(rule((text) => isBetween(milliseconds(text, units), least, most), problem)),
    z.transform((text) => milliseconds(text, units)),
  );

const isBetween = (value: number, least: number, most: number) => value >= least && value <= most;

function milliseconds(written: string, units: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,4})([smhd])$/.exec(written) ?? [];
  return units.includes(unit) ? Number(count) * (unitsMs[unit] ?? Number.NaN) : Number.NaN;
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type CamelCased<Fields> = { [Name in keyof Fields as Camel<Name>]: Fields[Name] };

/** The same fields, named as in code: `source_ton` is `sourceTon`. */
export const camelCased = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as CamelCased<Fields>;

interface RouteOfList {
  name: string;
  prefixes: readonly string[];
  fallback: readonly string[];
}

/** The rules between routes. Throws ConfigurationError. */
export function checkTogether(routes: readonly RouteOfList[]): void {
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
      if (owner !== undefined) fail(index, 'prefixes', `${prefix} already belongs to ${owner}`);
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
