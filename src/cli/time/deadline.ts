import type { Clock } from './clock.js';

/** A point in time on the monotonic clock. */
export class Deadline {
  readonly #clock: Clock;
  readonly #at: number;

  constructor(clock: Clock, milliseconds: number) {
    this.#clock = clock;
    this.#at = clock.elapsed() + milliseconds;
  }

  /** Milliseconds left; 0 or less when it has passed. */
  get left(): number {
    return this.#at - this.#clock.elapsed();
  }

  /** The result of the work, or null if it takes too long; the work itself continues. */
  async orNull<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.left <= 0) return null;
    let cancel = () => {};
    const late = new Promise<null>((resolve) => {
      cancel = this.#clock.after(this.left, () => resolve(null));
    });
    try {
      return await Promise.race([work(), late]);
    } finally {
      cancel();
    }
  }
}
