import { maxParts, type Pricing, priceOfSms, unitsPerPart } from '../../contract/index.js';
import type { Settings } from '../settings.js';
import type { OperationContext } from './context.js';
import { partsOf } from './fields.js';
import type { Caller } from './operations.js';

/** The price of one message. */
export interface Price {
  parts: number | null;
  rateMultiplier: number | null;
  credits: number;
}

/** GET /v1/pricing. */
export async function getPricing(context: OperationContext, caller: Caller): Promise<Pricing> {
  const { settings } = await context.project(caller);
  return {
    sms: {
      credits_per_part: settings.prices.sms_part,
      rate_multiplier: holidayMultiplier(settings, context.clock.now()),
      latin_characters_per_part: unitsPerPart.latin,
      cyrillic_characters_per_part: unitsPerPart.cyrillic,
      max_parts: maxParts,
    },
    email: { credits_per_message: settings.prices.email },
  };
}

/** The price of an SMS accepted at `now` (ms). Refuses an empty text and one with too many parts. */
export function smsPrice(settings: Settings, text: string, now: number): Price {
  const parts = partsOf(text);
  const rateMultiplier = holidayMultiplier(settings, now);
  return { parts, rateMultiplier, credits: priceOfSms(parts, settings.prices.sms_part, rateMultiplier) };
}

export function emailPrice(settings: Settings): Price {
  return { parts: null, rateMultiplier: null, credits: settings.prices.email };
}

function holidayMultiplier(settings: Settings, now: number): number {
  return settings.holidays[localDate(now)] ?? 1;
}

const hour = 3_600_000;
let last = { day: 0, date: '1970-01-01' };

/** Ulaanbaatar is UTC+8 all year. Formatting a date takes as long as pricing a send, so the last one is cached. */
function localDate(now: number): string {
  const day = Math.floor((now + 8 * hour) / (24 * hour));
  if (day !== last.day) last = { day, date: new Date(day * 24 * hour).toISOString().slice(0, 10) };
  return last.date;
}
