import type { Clock } from '../clock.js';

/** The shortest and longest pause, in milliseconds; it doubles each time. */
const firstPause = 1_000;
const longestPause = 60_000;

/** Pauses, each twice as long as the last, until something succeeds. */
export class Backoff {
  readonly #clock: Clock;
  /** On the monotonic clock; null if it was never paused. */
  #until: number | null = null;
  #next = firstPause;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds left of a pause. Reads the clock only after a pause: a batch asks a thousand times. */
  get left(): number {
    return this.#until === null ? 0 : Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** When the first of these pauses started, on the monotonic clock. */
  get since(): number {
    return this.#since;
  }

  /** Failures that were under way at the same time count as one. */
  pause(atLeast = 0): void {
    if (this.left > 0) return;
    const now = this.#clock.monotonic();
    if (this.#next === firstPause) this.#since = now;
    this.#until = now + Math.max(this.#next, atLeast);
    this.#next = Math.min(this.#next * 2, longestPause);
  }

  /** Makes the next pause short again; the current one continues. */
  reset(): void {
    this.#next = firstPause;
  }
}
