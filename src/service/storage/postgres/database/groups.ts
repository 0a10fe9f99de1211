import { StatementError } from './failure.js';

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Groups written at once; the next one collects items meanwhile. */
const atOnce = 2;
const largest = 1_000;
/** Milliseconds that an item waits for earlier groups, if a caller waits for its answer. */
const patienceMs = 900;
/** Attempts of a group that another transaction made fail. */
const maxTries = 5;

/**
 * Collects items that arrive while others are being written, and writes them in one statement. If a group is refused,
 * each item is written alone, so that one cannot make the others fail.
 */
export class Groups<Item, Result> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];
  readonly #most: number;
  readonly #isPatient: boolean;
  #underWay = 0;
  #isScheduled = false;
  #shedding: NodeJS.Timeout | null = null;

  /** `most`: items in a group. `isPatient`: for background work, which is never refused. */
  constructor(
    write: (items: readonly Item[]) => Promise<readonly Result[]>,
    { most = largest, isPatient = false } = {},
  ) {
    this.#write = write;
    this.#most = most;
    this.#isPatient = isPatient;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: performance.now(), resolve, reject });
      this.#limitWait();
      if (this.#isScheduled || this.#underWay >= atOnce) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#flush();
      });
    });
  }

  addAll(items: readonly Item[]): Promise<Result[]> {
    return Promise.all(items.map((item) => this.add(item)));
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#underWay < atOnce) {
      this.#underWay += 1;
      void this.#writeAll(this.#waiting.splice(0, this.#most)).finally(() => {
        this.#underWay -= 1;
        this.#flush();
      });
    }
    this.#limitWait();
  }

  #limitWait(): void {
    if (this.#isPatient || this.#underWay < atOnce || this.#waiting.length === 0) return;
    this.#shedding ??= setTimeout(() => this.#shed(), patienceMs);
  }

  /** Refuses items that have waited too long: nothing of them was sent. */
  #shed(): void {
    const oldest = performance.now() - patienceMs;
    const late = this.#waiting.filter(({ since }) => since <= oldest);
    this.#waiting = this.#waiting.filter(({ since }) => since > oldest);
    const [first] = this.#waiting;
    this.#shedding = first === undefined ? null : setTimeout(() => this.#shed(), first.since - oldest);
    const error = new StatementError(
      'not_sent',
      new Error(`the statements before it took over ${patienceMs} ms`),
    );
    for (const { reject } of late) reject(error);
  }

  async #writeAll(group: readonly Waiting<Item, Result>[], tries = 1): Promise<void> {
    try {
      const results = await this.#write(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      const failure = error instanceof StatementError ? error.failure : null;
      if (failure === 'conflict' && tries < maxTries) return this.#writeAll(group, tries + 1);
      if (failure === 'refused' && group.length > 1) {
        for (const one of group) await this.#writeAll([one]);
        return;
      }
      for (const { reject } of group) reject(error);
    }
  }
}
