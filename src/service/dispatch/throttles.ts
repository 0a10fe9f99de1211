import type { Clock } from '../clock.js';
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
  /** The latest acceptances of two senders. */
  #accepted: { name: string; at: number }[] = [];
  #answers = 0;
  #throttled = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  accepted(): void {
    this.#count(0);
  }

  acceptedOf({ name }: Sender): void {
    const at = this.#clock.monotonic();
    this.#accepted = [{ name, at }, ...this.#accepted.filter((one) => one.name !== name)].slice(0, 2);
  }

  /** Whether a message of another sender was accepted in the last second. */
  hasAccepted({ name }: Sender): boolean {
    const at = this.#clock.monotonic();
    return this.#accepted.some((one) => one.name !== name && one.at > at - together);
  }

  /** Senders of messages to other recipients that were throttled in the last second; none where few are. */
  throttled(sender: Sender, recipient: string): readonly Sender[] {
    this.#count(1);
    const at = this.#clock.monotonic();
    const others = this.#latest.filter((one) => one.at > at - together && one.recipient !== recipient);
    this.#latest = [...lastOfEach(others), { sender, recipient, at }];
    return this.#throttled < this.#answers * part ? [] : others.map((one) => one.sender);
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
