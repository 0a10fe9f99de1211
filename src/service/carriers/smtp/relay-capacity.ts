import type { Clock } from '../../clock.js';

/** Milliseconds worth of mails in the window. */
const windowMs = 5_000;
/** Milliseconds worth of batch mails that are claimed ahead. */
const aheadMs = 1_000;
/** Mails per connection in the window. */
const fewestMails = 2;
const firstMails = 50;
const mostMails = 500;
/** The weight of the latest mail. */
const latestWeight = 0.1;

/** Estimates how many mails a relay accepts, from its latest answers and those that it owes. */
export class RelayCapacity {
  readonly #connections: number;
  readonly #clock: Clock;
  /** When the submissions without an answer began, on the monotonic clock. */
  readonly #unanswered: number[] = [];
  #averageMs = windowMs / firstMails;

  constructor(connections: number, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Mails in the window, over all connections. */
  get window(): number {
    return this.#connections * this.#each;
  }

  /**
   * Batch mails to claim: those of a second over all connections, and the one in progress on each. One that takes longer
   * than that stops its connection, whatever the average was.
   */
  get ahead(): number {
    const late = this.#clock.monotonic() - aheadMs;
    const moving = this.#connections - this.#unanswered.filter((begun) => begun <= late).length;
    return Math.ceil((Math.max(moving, 0) * this.#each * aheadMs) / windowMs) + this.#connections;
  }

  get #each(): number {
    const each = Math.floor(windowMs / Math.max(this.#averageMs, 1));
    return Math.min(Math.max(each, fewestMails), mostMails);
  }

  async measure<Result>(submitting: Promise<Result>): Promise<Result> {
    const begun = this.#clock.monotonic();
    this.#unanswered.push(begun);
    try {
      return await submitting;
    } finally {
      this.#unanswered.splice(this.#unanswered.indexOf(begun), 1);
      this.#averageMs += latestWeight * (this.#clock.monotonic() - begun - this.#averageMs);
    }
  }
}
