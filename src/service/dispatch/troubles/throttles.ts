import type { Clock } from '../../clock.js';
import type { MessageRecord } from '../../storage/store.js';

/** Milliseconds within which two throttled messages say more than each alone. */
const togetherMs = 1_000;
/** The weight that an answer keeps after each later one. */
const keptWeight = 0.98;
/** The share of answers that must be throttled. */
const throttledShare = 0.2;

interface Throttled {
  sender: string;
  recipient: string;
  at: number;
}

/**
 * Throttled messages among the latest answers of a lane. Only many of them are about its rate: a number with a full
 * queue may be throttled for ever.
 */
export class Throttles {
  readonly #clock: Clock;
  /** Each to a different recipient. */
  #latest: Throttled[] = [];
  #answers = 0;
  #throttled = 0;
  readonly #hasOthers: (projectId: string) => Promise<boolean>;
  /** On the monotonic clock. */
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, hasOthers: (projectId: string) => Promise<boolean>) {
    this.#clock = clock;
    this.#hasOthers = hasOthers;
  }

  accepted(): void {
    this.#count(0);
  }

  /**
   * What a throttled message is about, after that many milliseconds: together with one of another sender, the rate;
   * otherwise its sender, if others have work on the lane in any instance.
   */
  async throttled(
    { to, projectId: sender }: Pick<MessageRecord, 'to' | 'projectId'>,
    answeredMs: number,
  ): Promise<'message' | 'sender' | 'lane'> {
    this.#count(1);
    const at = this.#clock.monotonic();
    const others = this.#latest.filter((one) => one.at > at - togetherMs && one.recipient !== to);
    this.#latest = [...lastOfEach(others), { sender, recipient: to, at }];
    if (this.#throttled < this.#answers * throttledShare) return 'message';
    const senders = [...new Set(this.#latest.map((one) => one.sender))];
    const sure = senders.filter((one) => this.#latest.filter(({ sender }) => sender === one).length > 1);
    // One of two senders may have nothing but a number that is throttled for ever.
    if (senders.length > 2 || sure.length > 1) return 'lane';
    if (!sure.includes(sender)) return 'message';
    if (at - this.#askedAt < answeredMs) return 'message';
    this.#askedAt = at;
    return (await this.#hasOthers(sender)) ? 'sender' : 'lane';
  }

  #count(throttled: 0 | 1): void {
    this.#answers = this.#answers * keptWeight + 1;
    this.#throttled = this.#throttled * keptWeight + throttled;
  }
}

/** Two messages of a sender, and three senders, say as much as all of them. */
function lastOfEach(all: readonly Throttled[]): Throttled[] {
  const senders = [...new Set(all.map(({ sender }) => sender))].slice(-3);
  return senders.flatMap((sender) => all.filter((one) => one.sender === sender).slice(-2));
}
