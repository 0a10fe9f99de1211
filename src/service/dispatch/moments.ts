import type { Clock } from '../clock.js';

/** Lets callers wait for the next change of something. */
export class Moments {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `atMost`: milliseconds. */
  wait(atMost?: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = atMost === undefined ? () => {} : this.#clock.after(atMost, resolve);
      this.#waiting.push(() => {
        cancel();
        resolve();
      });
    });
  }

  next(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
