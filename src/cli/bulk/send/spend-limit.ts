import { type Channel, measureText, type Pricing, priceOfSms } from '../../../contract/index.js';
import type { JobState } from '../job/job-state.js';
import type { PlannedRequest } from '../plan/plan.js';
import type { NextPrice } from './ending.js';

interface Cost {
  recipients: number;
  /** SMS parts of its text; 0 for an email. */
  parts: number;
  /** Its price in the plan, for the remaining recipients; 0 if no price was known. */
  planned: number;
}

/**
 * Keeps a job within `--max-credits`. Requests in flight or in doubt count at the highest known price: the plan's, the
 * current one, or one that was charged.
 */
export class SpendLimit {
  readonly #state: JobState;
  readonly #channel: Channel;
  /** Requests that may still be charged: in flight, or in doubt. */
  readonly #reserved = new Map<number, Cost>();
  #pricing: Pricing | null = null;
  /** The highest ratio of a charge to its planned price, and the highest charge for one recipient. */
  #increase = 1;
  #perRecipient: number | null = null;

  constructor(state: JobState, channel: Channel) {
    this.#state = state;
    this.#channel = channel;
  }

  get isLimited(): boolean {
    return this.#state.spendLimit !== null;
  }

  /** Null keeps the known prices. */
  setPrices(pricing: Pricing | null): void {
    this.#pricing = pricing ?? this.#pricing;
  }

  /** Counts a request in doubt, which may have been charged already. */
  reserve(request: PlannedRequest, removed: number): void {
    if (this.isLimited) this.#reserved.set(request.number, costOf(request, removed));
  }

  /** Counts a request; false if it could exceed the limit, together with all others in flight. */
  tryReserve(request: PlannedRequest, removed: number): boolean {
    const { spendLimit: limit, credits } = this.#state;
    if (limit === null) return true;
    this.reserve(request, removed);
    let expected = 0;
    for (const [number, cost] of this.#reserved) {
      // The credits of an accepted request have been charged.
      if (this.#state.isOpen(number)) expected += this.#highest(cost);
    }
    return credits + expected <= limit;
  }

  /** The highest known price of a request. */
  priceOf(request: PlannedRequest, removed: number): NextPrice {
    const cost = costOf(request, removed);
    const highest = this.#highest(cost);
    return {
      price: highest / Math.max(1, cost.recipients),
      increase: cost.planned > 0 ? highest / cost.planned : null,
    };
  }

  /** Learns the charge for a request; true if it is higher than every known price. */
  learnCharge(request: PlannedRequest, removed: number, charged: number): boolean {
    if (!this.isLimited) return false;
    const cost = costOf(request, removed);
    const isHigher = charged > this.#highest(cost);
    if (cost.planned > 0) this.#increase = Math.max(this.#increase, charged / cost.planned);
    this.#perRecipient = Math.max(this.#perRecipient ?? 0, charged / Math.max(1, cost.recipients));
    return isHigher;
  }

  /** Stops counting a request, unless it is in doubt and may still be charged. */
  release(request: PlannedRequest): void {
    if (this.#state.phase(request.number) !== 'doubt') this.#reserved.delete(request.number);
  }

  /** Infinity if no price is known. */
  #highest({ recipients, parts, planned }: Cost): number {
    const current = this.#current(parts);
    if (planned === 0 && current === null && this.#perRecipient === null) return Number.POSITIVE_INFINITY;
    const learned = planned > 0 ? planned * this.#increase : (this.#perRecipient ?? 0) * recipients;
    return Math.max((current ?? 0) * recipients, learned);
  }

  /** The price per recipient; null if the price list is unknown. */
  #current(parts: number): number | null {
    if (this.#pricing === null) return null;
    const { sms, email } = this.#pricing;
    return this.#channel === 'email'
      ? email.credits_per_message
      : priceOfSms(parts, sms.credits_per_part, sms.rate_multiplier);
  }
}

function costOf({ to, body, credits }: PlannedRequest, removed: number): Cost {
  const { text } = JSON.parse(body) as { text?: unknown };
  const parts = typeof text === 'string' ? measureText(text).parts : 0;
  const recipients = to.length - removed;
  return { recipients, parts, planned: (credits * recipients) / to.length };
}
