import type { Clock } from '../../clock.js';
import type { Instant } from '../records.js';

/** The database's time, on the monotonic clock of this process, whose own time may be wrong. */
export class DatabaseClock implements Clock {
  readonly monotonic: Clock['monotonic'];
  readonly after: Clock['after'];
  /** Milliseconds between the monotonic clock and the database's time. */
  #ahead: number;

  /** `at`: the database's time, requested at `since` on the monotonic clock. */
  constructor(clock: Clock, at: Instant, since: number) {
    this.monotonic = () => clock.monotonic();
    this.after = (milliseconds, run) => clock.after(milliseconds, run);
    this.#ahead = at - (since + clock.monotonic()) / 2;
  }

  now(): Instant {
    return Math.floor(this.monotonic() + this.#ahead);
  }

  /** Adjusts to every answer: the database read its clock after the request and before the answer. */
  observe(at: Instant, since: number): void {
    const least = at - this.monotonic();
    const most = at + 1 - since;
    this.#ahead = Math.max(least, Math.min(this.#ahead, most));
  }
}
