import type { Clock } from '../clock.js';

/** Milliseconds a request waits for a message that is on its way, below the 30 s a client's attempt has. */
const maxWait = 20_000;
/** Milliseconds between looks for what another process has done. */
const lookEvery = 100;

/** Where requests wait for a send that is still running, here or in another process. */
export class AnswerBoard {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Says that something happened to a topic: whoever waits for it looks again. */
  announce(topic: string): void {
    for (const look of this.#waiting.get(topic) ?? []) look();
  }

  /** Looks until there is something, at every announcement; null when that takes too long. */
  async wait<Found>(topic: string, look: () => Promise<Found | null>): Promise<Found | null> {
    const end = this.#clock.monotonic() + maxWait;
    for (;;) {
      const news = this.#news(topic);
      const found = await look().catch((error) => {
        news.cancel();
        throw error;
      });
      if (found !== null) {
        news.cancel();
        return found;
      }
      await news.arrived;
      if (this.#closed || this.#clock.monotonic() >= end) return null;
    }
  }

  /** Says that anything may have happened. */
  announceAll(): void {
    for (const topic of this.#waiting.keys()) this.announce(topic);
  }

  /** Sends everyone who waits away. */
  close(): void {
    this.#closed = true;
    this.announceAll();
  }

  /** Begins to listen before the look that follows, so that nothing between the two is missed. */
  #news(topic: string): { arrived: Promise<void>; cancel(): void } {
    let cancel = () => {};
    const arrived = new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(topic) ?? new Set();
      this.#waiting.set(topic, waiting);
      const stop = this.#clock.after(lookEvery, () => done());
      const done = () => {
        stop();
        waiting.delete(done);
        if (waiting.size === 0) this.#waiting.delete(topic);
        resolve();
      };
      waiting.add(done);
      cancel = done;
    });
    return { arrived, cancel };
  }
}
