const minute = 60_000;

/** A warning, with how many since the one before. */
class ConnectionsShed extends Error {
  override readonly name = 'ConnectionsShed';
}

/** Reports connections that had no place, at most once a minute. */
export class ShedLog {
  readonly #report: (error: unknown) => void;
  readonly #most: number;
  readonly #now: () => number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(report: (error: unknown) => void, most: number, now: () => number) {
    this.#report = report;
    this.#most = most;
    this.#now = now;
  }

  shed(): void {
    this.#count += 1;
    if (this.#now() - this.#reportedAt < minute) return;
    this.#reportedAt = this.#now();
    const some = this.#count === 1 ? '1 connection was' : `${this.#count} connections were`;
    this.#count = 0;
    this.#report(new ConnectionsShed(`${some} answered 503: all ${this.#most} were at work`));
  }
}
