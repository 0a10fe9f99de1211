import type { Clock } from '../../clock.js';

/** Milliseconds whose mails there is capacity for, and those of batches that are claimed ahead. */
const [window, aheadMs] = [5_000, 1_000];
/** Mails of a connection in the window. */
const [fewest, first, most] = [2, 50, 500];
/** The weight of the latest mail. */
const weight = 0.1;

/** How many mails a relay takes, as its latest answers tell. */
export class Throughput {
  readonly #connections: number;
  readonly #clock: Clock;
  #averageMs = window / first;

  constructor(connections: number, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Mails in the window over all connections. */
  get capacity(): number {
    const each = Math.floor(window / Math.max(this.#averageMs, 1));
    return this.#connections * Math.min(Math.max(each, fewest), most);
  }

  /** Mails of batches that are claimed: those of a second over all connections, and one that is under way on each. */
  get ahead(): number {
    return Math.ceil((this.capacity * aheadMs) / window) + this.#connections;
  }

  async measure<Result>(submitting: Promise<Result>): Promise<Result> {
    const begun = this.#clock.monotonic();
    try {
      return await submitting;
    } finally {
      this.#averageMs += weight * (this.#clock.monotonic() - begun - this.#averageMs);
    }
  }
}
