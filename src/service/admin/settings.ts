import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { isOneLine, normalizeAddress, parseUrl, recipientCaps } from '../../contract/index.js';
import { emailRoute, noLinkRoute } from '../carriers/carrier.js';
import { parseFields, prefix, rule } from '../parse-fields.js';
import { isZone, parseHours, quietZone } from '../quiet/quiet-hours.js';
import { hosted, maxNameLength, type SettingsPatch } from '../settings.js';

const [tenMinutes, day] = recipientCaps;

const within = (min: number, max: number) =>
  z.custom<number>((value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max, {
    error: `must be a whole number from ${min} to ${max}`,
  });
const isDomain = (text: string) => text === text.toLowerCase() && normalizeAddress(`a@${text}`) !== null;
const domain = z.string().check(rule(isDomain, 'must be a domain in lower case'));
const isSelector = (text: string) => /^(?=.{1,63}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(text);
const ownDomain = z
  .strictObject({
    domain,
    selector: z.exactOptional(
      z.string().check(rule(isSelector, 'must be letters, digits, dashes and dots, as mail2026')),
    ),
    key_file: z.exactOptional(z.string().check(rule(isAbsolute, 'must be an absolute path'))),
  })
  .check(
    z.refine(({ selector, key_file: file }) => (selector === undefined) === (file === undefined), {
      error: 'selector and key_file belong together',
    }),
  );

/** Where a mail program goes, or writes to, to unsubscribe its user. */
function isUnsubscribeAddress(text: string): boolean {
  if (text === hosted) return true;
  const filled = text.replaceAll('{to}', 'a%40example.mn');
  return (
    /^(?:https:\/\/|mailto:[^@]+@)[\x21-\x7e]+$/.test(filled) &&
    !/[<>,{}]/.test(filled) &&
    parseUrl(filled) !== null
  );
}

/** An operator is a route by its name, which no other route may have. */
const operatorName = z.string().check(
  z.minLength(1, { error: 'must not be empty' }),
  rule((name) => name !== noLinkRoute && name !== emailRoute, 'is the name of a route'),
);
const date = z.iso.date({ error: 'must be a date, as 2026-12-29' });
const multiplier = z.custom<number>((value) => typeof value === 'number' && value > 0 && value <= 100, {
  error: 'must be a number over 0, at most 100',
});
const words = z.array(z.string().check(z.minLength(1), z.maxLength(40)));
const verifications = within(1, 1_000_000);
const credits = within(0, 1_000_000);

const patchSchema = z.partial(
  z.strictObject({
    brand_name: z.nullable(
      z.string().check(
        z.maxLength(maxNameLength),
        rule((name) => name.trim() !== '', 'must not be empty'),
        rule(isOneLine, 'must be one line'),
      ),
    ),
    reply_to: z.nullable(
      z.string().check(rule((to) => normalizeAddress(to) !== null, 'must be an email address')),
    ),
    own_domain: z.nullable(z.union([domain, ownDomain])),
    list_unsubscribe: z.nullable(
      z
        .string()
        .check(
          rule(
            isUnsubscribeAddress,
            'must be hosted, or an https: or mailto: address, with {to} for the recipient',
          ),
        ),
    ),
    suppressions: z.boolean(),
    stop_words: words,
    start_words: words,
    quiet_hours: z.nullable(
      z
        .string()
        .check(
          rule((text) => parseHours(text) !== null, 'must be two different times of the day, as 21:00-08:00'),
        ),
    ),
    quiet_zone: z.custom<string>((zone) => typeof zone === 'string' && isZone(zone), {
      error: `must be a time zone, as ${quietZone} or Europe/Berlin`,
    }),
    // The caps count sends of the last days.
    retention_days: z.nullable(within(2, 36_500)),
    caps: z.strictObject({
      per_10_minutes: z.exactOptional(within(1, tenMinutes.maxMessages)),
      per_24_hours: z.exactOptional(within(1, day.maxMessages)),
    }),
    verifications: z.strictObject({
      per_24_hours: z.exactOptional(z.nullable(verifications)),
      per_100_numbers: z.exactOptional(z.nullable(verifications)),
    }),
    prices: z.strictObject({ sms_part: z.exactOptional(credits), email: z.exactOptional(credits) }),
    holidays: z.record(date, multiplier),
    operators: z.record(operatorName, z.array(prefix)),
    no_link_operators: z.array(z.string()),
  }),
);

/** Validates settings. Throws `invalid_request` with each invalid field and its rule. */
export function checkSettings(patch: unknown): SettingsPatch {
  const given = Object.entries(parseFields(patchSchema, patch, 'settings'));
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
