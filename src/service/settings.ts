import * as z from 'zod';
import {
  defaultNoLinkOperators,
  defaultOperators,
  normalizeAddress,
  type OperatorTable,
  recipientCaps,
} from '../contract/index.js';
import { emailRoute, noLinkRoute } from './carriers/carrier.js';
import { ServiceError } from './service-error.js';
import type { Caps } from './storage/caps.js';

/** What a project's owner may set; every field has a default. */
export interface Settings {
  /** Default sender name of emails; null for the project's name. */
  brand_name: string | null;
  /** Default reply-to address of emails. */
  reply_to: string | null;
  /** Domain that emails are sent from; null for the service's shared one. */
  own_domain: string | null;
  /** Messages one recipient may get (Limits, Per-recipient caps). */
  caps: { per_10_minutes: number; per_24_hours: number };
  /** Credits. */
  prices: { sms_part: number; email: number };
  /** Multiplier of the SMS price by day in Asia/Ulaanbaatar, `YYYY-MM-DD`. */
  holidays: Readonly<Record<string, number>>;
  /** Operators by the first two digits of their numbers. */
  operators: OperatorTable;
  /** Operators whose numbers are reached over the route that carries no links. */
  no_link_operators: readonly string[];
}

/** Some of the settings; of `caps` and `prices` some of their fields. */
export type SettingsPatch = {
  [Name in keyof Settings]?: Name extends 'caps' | 'prices' ? Partial<Settings[Name]> : Settings[Name];
};

/** The project that is there from the start. */
export const defaultProject = { id: '00000000-0000-7000-8000-000000000001', name: 'Default' };
/** Credits of a new project. */
export const openingBalance = 100_000;

const [tenMinutes, day] = recipientCaps;

export const defaultSettings: Settings = {
  brand_name: null,
  reply_to: null,
  own_domain: null,
  caps: { per_10_minutes: tenMinutes.defaultMessages, per_24_hours: day.defaultMessages },
  prices: { sms_part: 10, email: 2 },
  holidays: {},
  operators: defaultOperators,
  no_link_operators: defaultNoLinkOperators,
};

/** One line of text: no line breaks or other control characters. */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

/** Characters in the name of a project or a brand, which becomes the sender and part of the subject of emails. */
export const maxNameLength = 100;

const domain = (value: string) => value === value.toLowerCase() && normalizeAddress(`a@${value}`) !== null;
/** Operators are routes by their names, which no other route may have. */
const operatorName = z
  .string()
  .min(1)
  .refine((name) => name !== noLinkRoute && name !== emailRoute, 'is the name of a route');
const credits = z.int().min(0).max(1_000_000);
const patchSchema = z
  .strictObject({
    brand_name: z
      .string()
      .max(maxNameLength)
      .refine((value) => value.trim() !== '', 'must not be empty')
      .refine(isOneLine, 'must be one line')
      .nullable(),
    reply_to: z
      .string()
      .refine((value) => normalizeAddress(value) !== null, 'must be an email address')
      .nullable(),
    own_domain: z.string().refine(domain, 'must be a domain in lower case').nullable(),
    caps: z.strictObject({
      per_10_minutes: z.int().min(1).max(tenMinutes.maxMessages).exactOptional(),
      per_24_hours: z.int().min(1).max(day.maxMessages).exactOptional(),
    }),
    prices: z.strictObject({ sms_part: credits.exactOptional(), email: credits.exactOptional() }),
    holidays: z.record(z.iso.date(), z.number().positive().max(100)),
    operators: z.record(operatorName, z.array(z.string().regex(/^[0-9]{2}$/, 'must be two digits'))),
    no_link_operators: z.array(z.string()),
  })
  .partial();

/** Checks settings from outside. Throws `invalid_request`, naming the field and the rule. */
export function checkSettings(patch: unknown): SettingsPatch {
  const checked = patchSchema.safeParse(patch);
  if (checked.success) {
    return Object.fromEntries(Object.entries(checked.data).filter(([, value]) => value !== undefined));
  }
  const [issue] = checked.error.issues;
  const field = ['settings', ...(issue?.path ?? [])].join('.');
  throw new ServiceError('invalid_request', `${field}: ${issue?.message}`);
}

export function mergeSettings<Base extends SettingsPatch>(base: Base, patch: SettingsPatch): Base {
  const merged = { ...base, ...patch };
  if (patch.caps) merged.caps = { ...base.caps, ...patch.caps };
  if (patch.prices) merged.prices = { ...base.prices, ...patch.prices };
  return merged;
}

/** Reads stored settings, with the defaults under them and the overrides of this service on top. */
export function settingsReader(overrides: SettingsPatch): (stored: string) => Settings {
  const known = new Map<string, Settings>();
  return (stored) => {
    let settings = known.get(stored);
    if (settings === undefined) {
      settings = mergeSettings(mergeSettings(defaultSettings, JSON.parse(stored)), overrides);
      if (known.size > 1_000) known.clear();
      known.set(stored, settings);
    }
    return settings;
  };
}

export function capsOf(settings: Settings): Caps {
  return [settings.caps.per_10_minutes, settings.caps.per_24_hours];
}

/** What multiplies the price of an SMS accepted at `now` (milliseconds); Ulaanbaatar is UTC+8 all year. */
export function multiplierAt(settings: Settings, now: number): number {
  const today = new Date(now + 8 * 3_600_000).toISOString().slice(0, 10);
  return settings.holidays[today] ?? 1;
}
