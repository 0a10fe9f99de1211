import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.js';

/** Milliseconds within which submissions share a deadline. */
const shared = 1_000;

export interface Deadline {
  signal: AbortSignal;
  /** Resolves at the deadline. */
  reached: Promise<'deadline'>;
}

/** Ends submissions that get no answer; one timer for all that begin within a second. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #latest = new Map<number, Deadline & { since: number }>();
  readonly #cancels = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At least `milliseconds` from now. */
  in(milliseconds: number): Deadline {
    const now = this.#clock.monotonic();
    const latest = this.#latest.get(milliseconds);
    if (latest !== undefined && now - latest.since < shared) return latest;
    const abort = new AbortController();
    // Each submission that shares it may listen.
    setMaxListeners(0, abort.signal);
    const reached = new Promise<'deadline'>((resolve) => {
      const cancel = this.#clock.after(milliseconds + shared, () => {
        this.#cancels.delete(cancel);
        resolve('deadline');
        abort.abort();
      });
      this.#cancels.add(cancel);
    });
    const deadline = { signal: abort.signal, reached, since: now };
    this.#latest.set(milliseconds, deadline);
    return deadline;
  }

  /** Once nothing is submitted: no timer stays behind. */
  clear(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    this.#latest.clear();
  }
}
