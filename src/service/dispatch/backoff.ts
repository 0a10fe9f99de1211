import type { Clock } from '../clock.js';

/** Milliseconds that it lasts, doubled each time. */
const [firstPause, longestPause] = [1_000, 60_000];

/** Pauses, each twice as long as the one before, until something succeeds. */
export class Backoff {
  readonly #clock: Clock;
  /** On the monotonic clock; null while it was never paused. */
  #until: number | null = null;
  #next = firstPause;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds that are left of a pause. The clock is read only where there was one: batches ask a thousand times. */
  get left(): number {
    return this.#until === null ? 0 : Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** When the first of these pauses began, on the monotonic clock. */
  get since(): number {
    return this.#since;
  }

  /** Failures of what was under way together count as one. */
  pause(atLeast = 0): void {
    if (this.left > 0) return;
    const now = this.#clock.monotonic();
    if (this.#next === firstPause) this.#since = now;
    this.#until = now + Math.max(this.#next, atLeast);
    this.#next = Math.min(this.#next * 2, longestPause);
  }

  /** The next pause is short again; this one lasts. */
  reset(): void {
    this.#next = firstPause;
  }
}
