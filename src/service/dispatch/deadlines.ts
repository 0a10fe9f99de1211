import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.js';

/** Submissions that start within this many milliseconds share a deadline. */
const shared = 1_000;

interface Deadline {
  since: number;
  reach(): void;
  /** Cancels its timer; null while nothing is submitted. */
  cancel: (() => void) | null;
  signal: AbortSignal;
  /** Resolves the submissions that have no answer yet. */
  unanswered: Set<(result: 'deadline') => void>;
}

/** Ends submissions without an answer, with one timer for all that start within a second. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #latest = new Map<number, Deadline>();
  /** Deadlines with a timer. */
  readonly #running = new Set<Deadline>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the answer, or `deadline` after at least `milliseconds`; a later answer goes to `onLate`. Not
   * Promise.race, which keeps everything that ever raced until the deadline.
   */
  race<Result>(
    milliseconds: number,
    submit: (signal: AbortSignal) => Promise<Result>,
    onLate: (result: Result) => void,
  ): Promise<Result | 'deadline'> {
    return new Promise((resolve, reject) => {
      const { signal, unanswered } = this.#in(milliseconds);
      unanswered.add(resolve);
      submit(signal).then(
        (result) => {
          if (unanswered.delete(resolve)) resolve(result);
          else onLate(result);
        },
        (error) => {
          unanswered.delete(resolve);
          reject(error);
        },
      );
    });
  }

  #in(milliseconds: number): Deadline {
    const now = this.#clock.monotonic();
    const latest = this.#latest.get(milliseconds);
    if (latest !== undefined && now - latest.since < shared) {
      if (latest.cancel === null) this.#run(latest, latest.since - now + milliseconds + shared);
      return latest;
    }
    const abort = new AbortController();
    // Every submission of a carrier may listen to this signal.
    setMaxListeners(0, abort.signal);
    const unanswered: Deadline['unanswered'] = new Set();
    const reach = () => {
      const late = [...unanswered];
      unanswered.clear();
      for (const resolve of late) resolve('deadline');
      abort.abort();
    };
    const deadline: Deadline = { since: now, signal: abort.signal, unanswered, reach, cancel: null };
    this.#latest.set(milliseconds, deadline);
    this.#run(deadline, milliseconds + shared);
    return deadline;
  }

  #run(deadline: Deadline, milliseconds: number): void {
    deadline.cancel = this.#clock.after(milliseconds, () => {
      this.#running.delete(deadline);
      deadline.reach();
    });
    this.#running.add(deadline);
  }

  /** Stops the timer when nothing is submitted any more. */
  clear(): void {
    for (const deadline of this.#running) {
      deadline.cancel?.();
      deadline.cancel = null;
    }
    this.#running.clear();
  }
}
