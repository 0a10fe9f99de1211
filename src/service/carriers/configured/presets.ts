import { ConfigurationError } from '../../errors/configuration-error.js';
import { infobip } from './presets/infobip.js';
import { kannel } from './presets/kannel.js';
import type { Preset, Written, WrittenFields } from './presets/preset.js';
import { twilio } from './presets/twilio.js';
import { vonage } from './presets/vonage.js';

export const presets: ReadonlyMap<string, Preset> = new Map(
  Object.entries({ kannel, twilio, vonage, infobip }),
);

/** Fields that are merged with the preset's; any other replaces its field. */
const joined = ['query', 'form', 'json', 'headers', 'basic', 'receipts', 'incoming'];

/**
 * A route's fields merged with those of its `gateway`. Throws ConfigurationError that lists the fields which only the
 * owner knows.
 */
export function withPreset({ gateway, ...own }: WrittenFields, place: string): WrittenFields {
  const preset = typeof gateway === 'string' ? presets.get(gateway) : undefined;
  if (preset === undefined)
    throw new ConfigurationError(`${place}.gateway: must be one of ${[...presets.keys()].join(', ')}`);
  const parts = [preset.route];
  for (const name of ['receipts', 'incoming'] as const) if (name in own) parts.push(preset[name]);
  const route: Record<string, Written> = {};
  for (const part of [...parts, own])
    for (const [name, value] of Object.entries(part))
      route[name] = joined.includes(name) ? join(route[name], value) : value;
  const isOf = (path: string, name: string) => path.startsWith(`${name}.`) && !(name in own);
  const missing = preset.needs.filter(
    (path) => !isOf(path, 'receipts') && !isOf(path, 'incoming') && at(route, path) === undefined,
  );
  if (missing.length > 0)
    throw new ConfigurationError(`${place}: ${gateway} needs ${missing.join(', ')} too`);
  return route;
}

/** Merges objects by field and arrays by index; otherwise the second value wins. */
function join(known: Written | undefined, more: Written): Written {
  if (Array.isArray(known) && Array.isArray(more)) {
    const longer = Array.from({ length: Math.max(known.length, more.length) });
    return longer.map((_, index) => (index < more.length ? join(known[index], more[index]) : known[index]));
  }
  if (!isFields(known) || !isFields(more)) return more;
  const fields = Object.entries(more).map(([name, value]) => [name, join(known[name], value)]);
  return { ...known, ...Object.fromEntries(fields) };
}

const isFields = (value: Written | undefined): value is WrittenFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function at(fields: WrittenFields, path: string): Written | undefined {
  let found: Written | undefined = fields;
  for (const step of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as WrittenFields)[step];
  }
  return found;
}
