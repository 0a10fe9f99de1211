/**
 * The two clocks of the service, one rule each:
 *
 * - `monotonic` measures durations inside a process: waits of requests, deadlines of leases, its own request rate. No
 *   correction of the system's clock touches it.
 * - `now` gives the times to store, since other processes read them. The system's clock may be stepped at any moment, so
 *   a stored time in the future counts as now and, where it would go on counting, is stored anew as now: caps and
 *   verifications (`clock_corrections`), due messages. A lease that ends later than a lease can last has ended, and a
 *   token bucket from the future is empty now: at most one 429 of a second.
 *
 * A clock set forward looks like time passed: caps, waits and verifications age by the step. The rate of a process
 * holds all the same, on its monotonic clock.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC; may be stepped in both directions. */
  now(): number;
  /** Milliseconds since any moment; never goes back, whatever happens to `now`. */
  monotonic(): number;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Waits until `work` has ended, whatever its outcome, for `milliseconds` at most. */
export function atMost(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(milliseconds, resolve);
    const end = () => {
      cancel();
      resolve();
    };
    work.then(end, end);
  });
}

/** Milliseconds of the system's monotonic clock. As fast as `performance`, which would cost a start 1 ms. */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** A clock that moves only by `advance`; for tests of windows, expiry and holidays. */
export class ManualClock implements Clock {
  #now: number;
  #elapsed = 0;
  #timers: { at: number; run: () => void }[] = [];

  constructor(start: number | Date = Date.now()) {
    this.#now = checkedTime(start);
  }

  /** Whole milliseconds; rounding errors of fractions do not count. */
  now(): number {
    return Math.floor(this.#now + 0.001);
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#elapsed + milliseconds, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Lets time pass and runs every due timer, in order. */
  advance(milliseconds: number): void {
    checkedTime(milliseconds);
    // Time never passes backwards: this sets the clock.
    if (milliseconds < 0) this.set(this.#now + milliseconds);
    const end = this.#elapsed + Math.max(0, milliseconds);
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#pass(Math.max(0, due.at - this.#elapsed));
      due.run();
    }
    this.#pass(end - this.#elapsed);
  }

  /** Steps the clock, as a time server does: no time passes, no timer runs. */
  set(time: number | Date): void {
    this.#now = checkedTime(time);
  }

  #pass(milliseconds: number): void {
    this.#elapsed += milliseconds;
    this.#now += milliseconds;
  }
}

/** Throws RangeError unless it is a time in milliseconds. */
function checkedTime(given: number | Date): number {
  const time = Number(given);
  if (typeof given !== 'string' && Number.isFinite(time)) return time;
  throw new RangeError('a time must be a Date or a finite number of milliseconds');
}
