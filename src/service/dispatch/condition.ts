import type { Clock } from '../clock.js';

/** Lets callers wait until something has changed. */
export class Condition {
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

  notifyAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
