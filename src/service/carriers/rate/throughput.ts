import type { Clock } from '../../clock.js';

/** Milliseconds over which a throughput is measured. */
const spanMs = 1_000;

/**
 * Measures how many messages of batches start in a second here. Other instances, single messages and long ones use the
 * rest of the route's rate.
 */
export class Throughput {
  readonly #clock: Clock;
  /** On the monotonic clock. */
  #from = Number.NEGATIVE_INFINITY;
  #begun = 0;
  /** Whether none waited at some time, so that more could have started. */
  #wasFree = false;
  #measured: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Messages a second; null unless the rate limits them. */
  get perSecond(): number | null {
    return this.#measured;
  }

  /** A message starts while `waiting` others wait. */
  begin(waiting: number): void {
    const now = this.#clock.monotonic();
    const span = now - this.#from;
    if (span >= spanMs) {
      // After a gap in which none could start, the figure is not the rate.
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
