/**
 * Time as the service sees it. Two clocks, and one rule for each:
 *
 * - Durations inside a process (how long a request waits, how long the holder of a lease may submit, how fast a
 *   process spends its rate) are measured on `monotonic`, which no correction of the system's clock touches.
 * - Times that are stored come from `now`, for other processes read them. The system's clock may be stepped at any
 *   moment, so a stored time in the future counts as now, and is put down as now where it would go on counting:
 *   caps and verifications (`clock_corrections`), messages due, rates. A lease that ends later than a lease can
 *   last has ended.
 *
 * A clock that is set forward cannot be told from time that has passed: caps, waits and verifications age by the
 * step. A process never exceeds its own rate for that, for it also counts on its monotonic clock.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC; may be stepped in both directions. */
  now(): number;
  /** Milliseconds since any moment; never goes back, whatever happens to `now`. */
  monotonic(): number;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until `advance` moves it; for tests of windows, expiry and holidays. */
export class ManualClock implements Clock {
  #now: number;
  #elapsed = 0;
  #timers: { at: number; run: () => void }[] = [];

  constructor(start: number | Date = Date.now()) {
    this.#now = Number(start);
  }

  /** Whole milliseconds, however little it was moved; a sum of thirds may be a hair less than their whole. */
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

  /** Lets time pass and runs, in order, every timer that has come due. */
  advance(milliseconds: number): void {
    // No time passes backwards: this is a clock that is set.
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

  /** Sets the clock, as an administrator or a time server does: no time passes, no timer runs. */
  set(time: number | Date): void {
    this.#now = Number(time);
  }

  #pass(milliseconds: number): void {
    this.#elapsed += milliseconds;
    this.#now += milliseconds;
  }
}
