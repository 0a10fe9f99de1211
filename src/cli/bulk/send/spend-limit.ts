import { type Channel, measureText, type Pricing, priceOfSms } from '../../../contract/index.js';
import type { JobState } from '../job/job-state.js';
import type { PlannedRequest } from '../plan/plan.js';

/** What the price of a request depends on. */
interface Cost {
  recipients: number;
  /** SMS parts of its text; 0 for an email. */
  parts: number;
  /** Its price in the plan, for the recipients that are left; 0 where no price was known. */
  planned: number;
}

/**
 * Keeps a job below what the person allows it to spend. What is on its way, or in doubt, counts at the
 * dearest price that was seen: the plan's, the present one, and what answers have charged.
 */
export class Budget {
  readonly #table: JobState;
  readonly #channel: Channel;
  /** What may still be charged: requests that are being settled, and those in doubt. */
  readonly #open = new Map<number, Cost>();
  #pricing: Pricing | null = null;
  /** How much dearer than planned a request has been, and the most one recipient has cost. */
  #rise = 1;
  #perRecipient: number | null = null;

  constructor(table: JobState, channel: Channel) {
    this.#table = table;
    this.#channel = channel;
  }

  /** Whether there is a limit, and so a use for prices. */
  get isLimited(): boolean {
    return this.#table.limit !== null;
  }

  /** The prices as they are now; null keeps those known. */
  learnPrices(pricing: Pricing | null): void {
    this.#pricing = pricing ?? this.#pricing;
  }

  /** Counts a request whose price may be charged yet, or already. */
  hold(request: PlannedRequest, removed: number): void {
    if (this.isLimited) this.#open.set(request.number, costOf(request, removed));
  }

  /** Counts a request; false when it, with all that is under way, could cost more than is allowed. */
  take(request: PlannedRequest, removed: number): boolean {
    const { limit, credits } = this.#table;
    if (limit === null) return true;
    this.hold(request, removed);
    let expected = 0;
    for (const [number, cost] of this.#open) {
      // An accepted request is in the table's credits already.
      if (this.#table.isOpen(number)) expected += this.#dearest(cost);
    }
    return credits + expected <= limit;
  }

  /** What one recipient of a request may cost; Infinity where nothing says it. */
  priceOf(request: PlannedRequest, removed: number): number {
    const cost = costOf(request, removed);
    return this.#dearest(cost) / Math.max(1, cost.recipients);
  }

  /** What a request was charged; true when that is dearer than anything known. */
  learn(request: PlannedRequest, removed: number, charged: number): boolean {
    if (!this.isLimited) return false;
    const cost = costOf(request, removed);
    const isDearer = charged > this.#dearest(cost);
    if (cost.planned > 0) this.#rise = Math.max(this.#rise, charged / cost.planned);
    this.#perRecipient = Math.max(this.#perRecipient ?? 0, charged / Math.max(1, cost.recipients));
    return isDearer;
  }

  /** The request is settled, or left: one in doubt may still be charged. */
  release(request: PlannedRequest): void {
    if (this.#table.phase(request.number) !== 'doubt') this.#open.delete(request.number);
  }

  /** Infinite where nothing says what it costs. */
  #dearest({ recipients, parts, planned }: Cost): number {
    const present = this.#present(parts);
    if (planned === 0 && present === null && this.#perRecipient === null) return Number.POSITIVE_INFINITY;
    const learned = planned > 0 ? planned * this.#rise : (this.#perRecipient ?? 0) * recipients;
    return Math.max((present ?? 0) * recipients, learned);
  }

  /** Of one recipient; null where the price list is not known. */
  #present(parts: number): number | null {
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
