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

/** Estimates how many mails a relay accepts, from its latest answers. */
export class RelayCapacity {
  readonly #connections: number;
  readonly #clock: Clock;
  #averageMs = windowMs / firstMails;

  constructor(connections: number, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Mails in the window, over all connections. */
  get window(): number {
    const each = Math.floor(windowMs / Math.max(this.#averageMs, 1));
    return this.#connections * Math.min(Math.max(each, fewestMails), mostMails);
  }

  /** Batch mails to claim: those of a second over all connections, and the one in progress on each. */
  get ahead(): number {
    return Math.ceil((this.window * aheadMs) / windowMs) + this.#connections;
  }

  async measure<Result>(submitting: Promise<Result>): Promise<Result> {
    const begun = this.#clock.monotonic();
    try {
      return await submitting;
    } finally {
      this.#averageMs += latestWeight * (this.#clock.monotonic() - begun - this.#averageMs);
    }
  }
}
