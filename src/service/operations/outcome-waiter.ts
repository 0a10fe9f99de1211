import type { Clock } from '../clock.js';

/** Milliseconds a request waits for an outcome, below the 30 s of a client's attempt. */
const maxWait = 20_000;
/** Milliseconds between looks at the work of other processes. */
const lookEvery = 100;

/** Requests wait here for an outcome that this process or another one brings about. */
export class OutcomeWaiter {
  readonly #clock: Clock;
  readonly #wakers = new Map<string, Set<() => void>>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wakes everyone waiting for a topic to look again. */
  notify(topic: string): void {
    for (const wake of this.#wakers.get(topic) ?? []) wake();
  }

  notifyAll(): void {
    for (const topic of this.#wakers.keys()) this.notify(topic);
  }

  /** Looks, again after every notice, until it finds something; null after 20 s and when this is closed. */
  async wait<Found>(topic: string, look: () => Promise<Found | null>): Promise<Found | null> {
    const end = this.#clock.monotonic() + maxWait;
    for (;;) {
      // Listens before it looks: nothing between the two is missed.
      const notice = this.#nextNotice(topic);
      const found = await look().catch((error) => {
        notice.cancel();
        throw error;
      });
      if (found !== null) {
        notice.cancel();
        return found;
      }
      await notice.arrived;
      if (this.#closed || this.#clock.monotonic() >= end) return null;
    }
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    this.notifyAll();
  }

  /** Arrives with the next `notify`, at the latest after `lookEvery`. */
  #nextNotice(topic: string): { arrived: Promise<void>; cancel(): void } {
    let cancel = () => {};
    const arrived = new Promise<void>((resolve) => {
      const wakers = this.#wakers.get(topic) ?? new Set();
      this.#wakers.set(topic, wakers);
      const stop = this.#clock.after(lookEvery, () => wake());
      const wake = () => {
        stop();
        wakers.delete(wake);
        if (wakers.size === 0) this.#wakers.delete(topic);
        resolve();
      };
      wakers.add(wake);
      cancel = wake;
    });
    return { arrived, cancel };
  }
}
