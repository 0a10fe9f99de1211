import { type Channel, maxParts, measureText, type Pricing, priceOfSms } from '../../../contract/index.js';
import { bodiesOf } from './files/plan-reader.js';
import type { MessageStore } from './message-store.js';
import type { FrozenPlan, PlanMeta } from './plan.js';

/** Credits for a message to one recipient; 0 without a price list. */
export type PriceOf = (message: number) => number;

/** Messages by number, with how many recipients each has. */
type PricedMessages = Pick<MessageStore, 'length' | 'parts' | 'isLatin'> & { counts: ArrayLike<number> };

export function pricesOf(
  channel: Channel,
  messages: Pick<PricedMessages, 'parts'>,
  pricing: Pricing | null,
): PriceOf {
  if (pricing === null) return () => 0;
  const { credits_per_part: perPart, rate_multiplier: multiplier } = pricing.sms;
  const sms = Array.from({ length: maxParts + 1 }, (_, parts) => priceOfSms(parts, perPart, multiplier));
  return channel === 'sms'
    ? (message) => sms[messages.parts(message)] ?? 0
    : () => pricing.email.credits_per_message;
}

/** Parts and credits by kind of text, without unused kinds. */
export function costOf(channel: Channel, messages: PricedMessages, priceOf: PriceOf): PlanMeta['cost'] {
  const kinds = channel === 'email' ? (['email'] as const) : (['latin', 'cyrillic'] as const);
  const cost: PlanMeta['cost'] = kinds.map((kind) => ({ kind, recipients: 0, parts: 0, credits: 0 }));
  for (let message = 0; message < messages.length; message += 1) {
    const entry = cost[channel === 'email' || messages.isLatin(message) ? 0 : 1];
    if (entry === undefined) continue;
    const recipients = messages.counts[message] ?? 0;
    entry.recipients += recipients;
    entry.parts += recipients * messages.parts(message);
    entry.credits += recipients * priceOf(message);
  }
  return cost.filter(({ recipients }) => recipients > 0);
}

/** The cost of a frozen plan by another price list. */
export async function costNow(plan: FrozenPlan, pricing: Pricing): Promise<PlanMeta['cost']> {
  const { channel } = plan.meta;
  const counts: number[] = [];
  const sizes: number[] = [];
  for await (const { body, recipients } of bodiesOf(plan)) {
    counts.push(recipients);
    if (channel === 'email') continue;
    const { parts, kind } = measureText((JSON.parse(body) as { text: string }).text);
    sizes.push(kind === 'latin' ? parts : -parts);
  }
  const parts = (message: number) => Math.abs(sizes[message] ?? 0);
  const isLatin = (message: number) => (sizes[message] ?? 0) > 0;
  const messages = { length: counts.length, counts, parts, isLatin };
  return costOf(channel, messages, pricesOf(channel, messages, pricing));
}
