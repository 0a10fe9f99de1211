const minute = 60_000;

class Warning extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Reports events of one kind at most once a minute, with how many there were since the last report. */
export class WarningLog {
  readonly #warn: (count: number) => void;
  readonly #now: () => number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(
    report: (warning: Error) => void,
    name: string,
    message: (count: number) => string,
    now: () => number,
  ) {
    this.#warn = (count) => report(new Warning(name, message(count)));
    this.#now = now;
  }

  add(): void {
    this.#count += 1;
    if (this.#now() - this.#reportedAt < minute) return;
    this.#reportedAt = this.#now();
    const count = this.#count;
    this.#count = 0;
    this.#warn(count);
  }
}
