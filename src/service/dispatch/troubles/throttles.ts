import type { Clock } from '../../clock.js';

/** Milliseconds within which two throttled messages say more than each alone. */
const togetherMs = 1_000;
/** The weight that an answer keeps after each later one. */
const keptWeight = 0.98;
/** The share of answers that must be throttled. */
const throttledShare = 0.2;
/** Senders whose answers are counted. */
const mostCounted = 1_000;

interface Throttled {
  sender: string;
  recipient: string;
  at: number;
}

/** How many of the latest answers were throttled. */
class Answers {
  #all = 0;
  #throttled = 0;

  add(isThrottled: boolean): void {
    this.#all = this.#all * keptWeight + 1;
    this.#throttled = this.#throttled * keptWeight + (isThrottled ? 1 : 0);
  }

  get areThrottled(): boolean {
    return this.#throttled >= this.#all * throttledShare;
  }
}

/**
 * Throttled messages among the latest answers of a lane. Only many of them are about a rate: a number with a full queue
 * may be throttled for ever.
 */
export class Throttles {
  readonly #clock: Clock;
  /** Of senders that are throttled, each to a different recipient. */
  #latest: Throttled[] = [];
  readonly #ofLane = new Answers();
  /** Longer than their senders are known: one whose messages were all deferred is forgotten until they return. */
  readonly #ofSenders = new Map<string, Answers>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  accepted(sender: string): void {
    this.#ofLane.add(false);
    this.#answersOf(sender).add(false);
  }

  /** What a throttled message is about: where others are throttled too, the rate of the lane; otherwise its sender. */
  throttled(sender: string, recipient: string): 'message' | 'sender' | 'lane' {
    this.#ofLane.add(true);
    const answers = this.#answersOf(sender);
    answers.add(true);
    if (!answers.areThrottled) return 'message';
    const at = this.#clock.monotonic();
    const others = this.#latest.filter((one) => one.at > at - togetherMs && one.recipient !== recipient);
    this.#latest = [...lastOfEach(others), { sender, recipient, at }];
    const senders = [...new Set(this.#latest.map((one) => one.sender))];
    const sure = senders.filter((one) => this.#latest.filter(({ sender }) => sender === one).length > 1);
    // One of two senders may have nothing but a number that is throttled for ever. Of many, each sends little in a second.
    if (this.#ofLane.areThrottled && (senders.length > 2 || sure.length > 1)) return 'lane';
    return sure.includes(sender) ? 'sender' : 'message';
  }

  #answersOf(sender: string): Answers {
    const known = this.#ofSenders.get(sender);
    if (known !== undefined) return known;
    const [first] = this.#ofSenders.keys();
    if (first !== undefined && this.#ofSenders.size === mostCounted) this.#ofSenders.delete(first);
    const answers = new Answers();
    this.#ofSenders.set(sender, answers);
    return answers;
  }
}

/** Two messages of a sender, and three senders, say as much as all of them. */
function lastOfEach(all: readonly Throttled[]): Throttled[] {
  const senders = [...new Set(all.map(({ sender }) => sender))].slice(-3);
  return senders.flatMap((sender) => all.filter((one) => one.sender === sender).slice(-2));
}
