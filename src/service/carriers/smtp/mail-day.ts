import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import { type DayPermits, dayMs, type RouteDays } from '../../storage/route-limits.js';
import type { DayLimit } from '../carrier.js';

/** The share of a day that mails of lists leave to others: a code must not wait for tomorrow behind a newsletter. */
const keptShare = 0.1;
/** Milliseconds until a day that is used up is asked about again, at most, and after its store failed. */
const lookEvery = 60_000;
const retryMs = 1_000;
const minute = 60_000;
const hour = 60 * minute;

export interface MailDayParts {
  /** Its day is its own: another mailbox begins with a whole one. */
  mailbox: string;
  perDay: number;
  days: RouteDays;
  clock: Clock;
  report: Report;
}

/** Mails of which a relay takes so many in any 24 hours, counted in the store for all instances. */
export class MailDay {
  readonly #parts: MailDayParts;
  readonly #mostOfLists: number;
  /** Null until the store has said it. */
  #known: DayPermits | null = null;
  /** When it did, and since when the limit is reached, on the monotonic clock. */
  #knownAt = 0;
  #since: number | null = null;
  /** Mails that may begin and have not ended. */
  #inHand = 0;
  #isStarted = false;
  #cancel = () => {};

  constructor(parts: MailDayParts) {
    this.#parts = parts;
    this.#mostOfLists = parts.perDay - Math.floor(parts.perDay * keptShare);
  }

  start(): Promise<void> {
    this.#isStarted = true;
    return this.#look();
  }

  stop(): void {
    this.#isStarted = false;
    this.#cancel();
  }

  /** Mails that may begin, with those that have, and those of lists among them. */
  get left(): number {
    return this.#leftOf(this.#parts.perDay);
  }

  get leftOfLists(): number {
    return this.#leftOf(this.#mostOfLists);
  }

  /** Null if it was not reached in the last 24 hours. */
  get limit(): DayLimit | null {
    // Nothing ends for its age before it is known what it has waited for.
    if (this.#known === null) return { isReached: false, agoMs: 0, forMs: 0, words: '' };
    const { reachedMs, nextMs, used } = this.#known;
    const now = this.#parts.clock.monotonic();
    const agoMs = this.#since === null ? (reachedMs ?? dayMs) + now - this.#knownAt : 0;
    if (agoMs >= dayMs) return null;
    const left = Math.max(0, (nextMs ?? 0) - (now - this.#knownAt));
    const wait = left >= 2 * hour ? `${Math.ceil(left / hour)} h` : `${Math.ceil(left / minute)} min`;
    const who = used < this.#parts.perDay ? 'lists go on' : 'next';
    return {
      isReached: this.#since !== null,
      agoMs,
      forMs: now - (this.#since ?? now),
      words: `${used} of ${this.#parts.perDay} mails, ${who} in ${wait}`,
    };
  }

  /** The slot in which a mail counts; null if it may not begin today. */
  async take(isOfList: boolean): Promise<number | null> {
    const most = isOfList ? this.#mostOfLists : this.#parts.perDay;
    if (this.#leftOf(most) <= this.#inHand) return null;
    const { granted, slot } = (await this.#ask(most, 1)) ?? { granted: 0, slot: 0 };
    if (granted === 0) return null;
    this.#inHand += 1;
    return slot;
  }

  /** A mail has ended; it counts no more if the relay did not take it. */
  end(slot: number, isTaken: boolean): void {
    this.#inHand -= 1;
    if (!isTaken) void this.#ask(this.#mostOfLists, -1, slot);
  }

  /** The relay takes no more although it could: it counts otherwise, or others send as well. */
  reach(): void {
    void this.#ask(0, 0);
  }

  #leftOf(most: number): number {
    return this.#known === null ? 0 : Math.max(0, most - this.#known.used) + this.#inHand;
  }

  async #ask(most: number, wanted: number, slot?: number): Promise<DayPermits | null> {
    const { days, mailbox: route, clock, report } = this.#parts;
    try {
      const given = slot === undefined ? {} : { slot };
      const known = await days.takeOfDay({ route, most, wanted, ...given });
      this.#known = known;
      this.#knownAt = clock.monotonic();
      this.#since = known.used < this.#mostOfLists ? null : (this.#since ?? this.#knownAt);
      if (this.#since !== null) this.#lookIn(Math.min(known.nextMs ?? lookEvery, lookEvery));
      return known;
    } catch (error) {
      report(error, { level: 'warning' });
      // Nothing begins until it is known again.
      this.#known = null;
      this.#lookIn(retryMs);
      return null;
    }
  }

  async #look(): Promise<void> {
    await this.#ask(this.#mostOfLists, 0);
  }

  #lookIn(milliseconds: number): void {
    this.#cancel();
    if (this.#isStarted) this.#cancel = this.#parts.clock.after(milliseconds, () => void this.#look());
  }
}
