import {
  defaultNoLinkOperators,
  defaultOperators,
  type OperatorTable,
  recipientCaps,
} from '../contract/index.js';
import { quietZone } from './quiet/quiet-hours.js';
import type { Caps } from './storage/caps.js';

/** Emails are signed (DKIM) if `selector` and `key_file` are set, always both. */
export interface OwnDomain {
  domain: string;
  selector?: string;
  /** Absolute path of the private RSA key in PEM, the same on every machine of the service. */
  key_file?: string;
}

/** The settings of a project. */
export interface Settings {
  /** Default sender name of emails; null for the project's name. */
  brand_name: string | null;
  /** Default reply-to address of emails. */
  reply_to: string | null;
  /** Domain that emails are sent from; null for the service's shared domain. */
  own_domain: OwnDomain | null;
  /**
   * Where recipients of bulk emails unsubscribe, `https:` or `mailto:`; `{to}` is replaced by the recipient. `hosted`: on
   * a page of the service itself.
   */
  list_unsubscribe: string | null;
  /** Whether bounces and stop words suppress recipients; whoever is suppressed is, whatever it says. */
  suppressions: boolean;
  /** Who answers an SMS with one of these words gets no more, if `suppressions` is on. */
  stop_words: readonly string[];
  /** Words that lift what a stop word or an unsubscription has suppressed, if `suppressions` is on. */
  start_words: readonly string[];
  /** `21:00-08:00`: messages of lists wait in these hours of every day; null for none. */
  quiet_hours: string | null;
  /** The time zone of `quiet_hours`. */
  quiet_zone: string;
  /** Days after which recipients and texts are erased; null to keep them. */
  retention_days: number | null;
  /** Maximum messages to one recipient (Limits, Per-recipient caps). */
  caps: { per_10_minutes: number; per_24_hours: number };
  /** Maximum verifications created in 24 hours: in all, and for each block of 100 numbers; null for no limit. */
  verifications: { per_24_hours: number | null; per_100_numbers: number | null };
  /** Credits. */
  prices: { sms_part: number; email: number };
  /** Multiplier of the SMS price by date in Asia/Ulaanbaatar, `YYYY-MM-DD`. */
  holidays: Readonly<Record<string, number>>;
  /** Operators by the first two digits of their numbers. */
  operators: OperatorTable;
  /** Operators whose messages use the route without links. */
  no_link_operators: readonly string[];
}

/** In `list_unsubscribe`: the service itself has the page where recipients unsubscribe. */
export const hosted = 'hosted';

/** Changes of settings. `caps`, `verifications` and `prices` may be partial, and a domain alone means `{ domain }`. */
export type SettingsPatch = {
  [Name in Exclude<keyof Settings, 'own_domain'>]?: Name extends 'caps' | 'verifications' | 'prices'
    ? Partial<Settings[Name]>
    : Settings[Name];
} & { own_domain?: Settings['own_domain'] | string };

const [tenMinutes, day] = recipientCaps;

export const defaultSettings: Settings = {
  brand_name: null,
  reply_to: null,
  own_domain: null,
  list_unsubscribe: null,
  suppressions: false,
  stop_words: ['STOP', 'UNSUBSCRIBE', 'ЗОГС', 'БОЛЬ'],
  start_words: ['START', 'UNSTOP', 'ЭХЛЭХ'],
  quiet_hours: null,
  quiet_zone: quietZone,
  retention_days: null,
  caps: { per_10_minutes: tenMinutes.defaultMessages, per_24_hours: day.defaultMessages },
  verifications: { per_24_hours: null, per_100_numbers: null },
  prices: { sms_part: 10, email: 2 },
  holidays: {},
  operators: defaultOperators,
  no_link_operators: defaultNoLinkOperators,
};

/**
 * Maximum characters of the name of a project, a key or a brand, which becomes the sender and part of the subject of
 * emails.
 */
export const maxNameLength = 100;

export function mergeSettings<Base extends SettingsPatch>(base: Base, patch: SettingsPatch): Base {
  const merged = { ...base, ...patch };
  if (patch.caps) merged.caps = { ...base.caps, ...patch.caps };
  if (patch.verifications) merged.verifications = { ...base.verifications, ...patch.verifications };
  if (patch.prices) merged.prices = { ...base.prices, ...patch.prices };
  if (typeof patch.own_domain === 'string') merged.own_domain = { domain: patch.own_domain };
  return merged;
}

/** Reads stored settings: defaults, then the stored ones, then the overrides of this service object. */
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

export function capsOf(settings: Pick<Settings, 'caps'>): Caps {
  return [settings.caps.per_10_minutes, settings.caps.per_24_hours];
}
