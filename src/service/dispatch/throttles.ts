import type { Clock } from '../clock.js';
import type { MessageRecord } from '../storage/store.js';
import type { Sender } from './sender.js';

/** Milliseconds within which two throttled messages say more than each of them. */
const together = 1_000;
/** Of the latest answers: what an answer counts after the next one, and the part that has to be throttled. */
const [lasting, part] = [0.98, 0.2];

/**
 * Throttled messages among the latest answers of a lane. They are about its rate only where they are many: a number
 * whose own queue is full may be throttled for ever.
 */
export class Throttles {
  readonly #clock: Clock;
  #latest: { sender: Sender; recipient: string; at: number }[] = [];
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
   * What a message tells that was throttled after so many milliseconds: with those of another sender of the rate, alone
   * of its own sender, where others have work on the lane in any instance.
   */
  async throttled(
    sender: Sender,
    { to, projectId }: Pick<MessageRecord, 'to' | 'projectId'>,
    answeredMs: number,
  ): Promise<'message' | 'sender' | 'lane'> {
    this.#count(1);
    const at = this.#clock.monotonic();
    const others = this.#latest.filter((one) => one.at > at - together && one.recipient !== to);
    this.#latest = [...lastOfEach(others), { sender, recipient: to, at }];
    if (others.length === 0 || this.#throttled < this.#answers * part) return 'message';
    if (others.some((one) => one.sender !== sender)) return 'lane';
    if (at - this.#askedAt < answeredMs) return 'message';
    this.#askedAt = at;
    return (await this.#hasOthers(projectId)) ? 'sender' : 'lane';
  }

  #count(throttled: 0 | 1): void {
    this.#answers = this.#answers * lasting + 1;
    this.#throttled = this.#throttled * lasting + throttled;
  }
}

/** Two senders tell as much as all. */
function lastOfEach<One extends { sender: Sender }>(all: readonly One[]): One[] {
  return [...new Map(all.map((one) => [one.sender, one])).values()].slice(-2);
}
