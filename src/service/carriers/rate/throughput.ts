import type { Clock } from '../../clock.js';

/** Milliseconds over which a throughput is measured. */
const spanMs = 1_000;

/**
 * How many messages of batches begin in a second here: of a route's rate other instances have their part, and so have
 * single messages and long ones.
 */
export class Throughput {
  readonly #clock: Clock;
  /** On the monotonic clock. */
  #from = Number.NEGATIVE_INFINITY;
  #begun = 0;
  /** At some time none waited: more could have begun. */
  #wasFree = false;
  #measured: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Messages a second; null while it is not the rate that holds them up. */
  get perSecond(): number | null {
    return this.#measured;
  }

  /** One begins, and so many others wait. */
  begin(waiting: number): void {
    const now = this.#clock.monotonic();
    const span = now - this.#from;
    if (span >= spanMs) {
      // Much later: nothing could begin for a while, which says nothing of the rate.
      const isKnown = !this.#wasFree && span < 2 * spanMs;
      this.#measured = isKnown ? (this.#begun * 1_000) / span : null;
      this.#from = now;
      this.#begun = 0;
      this.#wasFree = false;
    }
    this.#begun += 1;
    if (waiting === 0) this.#wasFree = true;
  }
}
