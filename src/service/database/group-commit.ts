import type { Database, Statement } from './open.js';

interface Job {
  work: () => unknown;
  rows: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Rows in one transaction, after which the others wait for the next: bounds how long a commit takes. */
const maxRows = 4_000;

/**
 * Runs the writes that arrive together as one transaction, so that they share one sync of the disk. A write
 * resolves after the commit. `work` must have no effect outside the database, for it may be rolled back and
 * run again: when one of a group throws, each runs again alone.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  #waiting: Job[] = [];
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** `rows` is about how many rows it writes. */
  run<Result>(work: () => Result, rows = 1): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#closed) return reject(new Error('the store is closed'));
      this.#waiting.push({ work, rows, resolve: resolve as (value: unknown) => void, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  /** Commits what is waiting. */
  flush(): void {
    while (this.#waiting.length > 0) {
      let rows = 0;
      let count = 0;
      while (count < this.#waiting.length && rows < maxRows) {
        rows += this.#waiting[count]?.rows ?? 0;
        count += 1;
      }
      this.#transact(this.#waiting.splice(0, count));
    }
  }

  close(): void {
    this.flush();
    this.#closed = true;
  }

  #transact(jobs: Job[]): void {
    try {
      this.#begin.run();
    } catch (error) {
      for (const job of jobs) job.reject(error);
      return;
    }
    const results: unknown[] = [];
    try {
      for (const job of jobs) results.push(job.work());
      this.#commit.run();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if (jobs.length === 1) jobs[0]?.reject(error);
      else for (const job of jobs) this.#transact([job]);
      return;
    }
    jobs.forEach((job, index) => {
      job.resolve(results[index]);
    });
  }
}
