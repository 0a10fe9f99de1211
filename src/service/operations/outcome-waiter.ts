import type { Clock } from '../clock.js';
import type { Changes, Topic } from '../storage/changes.js';

/** Milliseconds that a request waits for a message that is being sent: less than the client's timeout of 30 s. */
const maxWait = 20_000;

/** Lets requests wait for a send that is running in this process or another one. */
export class OutcomeWaiter {
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(clock: Clock, changes: Changes) {
    this.#clock = clock;
    this.#changes = changes;
  }

  /** Calls `look` at every change of the topic until it finds something; null if that takes too long. */
  async wait<Found>(topic: Topic, look: () => Promise<Found | null>): Promise<Found | null> {
    const end = this.#clock.monotonic() + maxWait;
    let hasChanged = false;
    let wake = () => {};
    const changed = () => {
      hasChanged = true;
      wake();
    };
    // Subscribes before the first look, so that no change is missed.
    const unsubscribe = this.#changes.subscribe(topic, changed);
    const cancelEnd = this.#clock.after(maxWait, changed);
    this.#waiting.add(changed);
    try {
      for (;;) {
        hasChanged = false;
        const found = await look();
        if (found !== null) return found;
        if (this.#isClosed || this.#clock.monotonic() >= end) return null;
        if (!hasChanged) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (this.#isClosed) return null;
      }
    } finally {
      unsubscribe();
      cancelEnd();
      this.#waiting.delete(changed);
    }
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    for (const wake of this.#waiting) wake();
  }
}
