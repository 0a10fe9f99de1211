import { monotonic } from '../../../clock.js';
import { largeTurn } from '../../../event-loop.js';
import { busyPatience, isBusy, lockedTooLong, nextTry } from './busy.js';
import type { Database, Statement } from './database.js';

interface Job {
  work: () => unknown;
  rows: number;
  /** When it arrived, on the monotonic clock. */
  since: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Writes that share commits with each other only. */
interface Line {
  jobs: Job[];
  isScheduled: boolean;
  /** While another process writes. */
  tries: number;
}

export interface GroupCommitOptions {
  /** Milliseconds that a write waits for other processes before it is refused. */
  patience?: number;
  /** Called before and after each commit; throws if the file is no longer the one at its path. */
  verify?: () => void;
  /** Called after each commit, with the approximate number of its rows. */
  committed?: (rows: number) => void;
}

/** Rows in a transaction, after which others wait for the next one: limits the time of a commit. */
const maxRows = 1_000;
/**
 * Writes of up to this many rows share no commit with larger ones, which take turns with other large work, so that a
 * single send does not wait for a batch's rows.
 */
const fewRows = 100;
/** Ticks of the event loop that writes wait for others. */
const mostTicks = 4;

/**
 * Runs the writes that arrive together as one transaction, so that they share one sync of the disk. A write resolves
 * after the commit. `work` must have no effect outside the database, because it may be rolled back and run again: if
 * one of a group throws, each runs again alone. While another process writes, it retries in short steps and the
 * process continues.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #patience: number;
  readonly #verify: () => void;
  readonly #committed: (rows: number) => void;
  readonly #small = newLine();
  readonly #large = newLine();
  #closed = false;
  #drained: () => void = () => {};

  constructor(
    database: Database,
    { patience = busyPatience, verify = () => {}, committed = () => {} }: GroupCommitOptions = {},
  ) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#patience = patience;
    this.#verify = verify;
    this.#committed = committed;
  }

  /** `rows`: approximately how many rows it writes. */
  run<Result>(work: () => Result, rows = 1): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#closed) return reject(new Error('the store is closed'));
      const line = rows > fewRows ? this.#large : this.#small;
      const since = monotonic();
      line.jobs.push({ work, rows, since, resolve: resolve as (value: unknown) => void, reject });
      if (!line.isScheduled) this.#schedule(line);
    });
  }

  #schedule(line: Line, before = 1): void {
    line.isScheduled = true;
    if (line === this.#large) void largeTurn().then(() => this.#flush(line));
    else setImmediate(() => this.#gather(line, before));
  }

  /** Waits while each tick brings more than were there `before`, and never for one that is alone. */
  #gather(line: Line, before: number, ticks = 1): void {
    const count = line.jobs.length;
    if (count <= before || ticks >= mostTicks) this.#flush(line);
    else setImmediate(() => this.#gather(line, count, ticks + 1));
  }

  /** Accepts no more, and resolves when everything waiting was committed or refused. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#isDone) return;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    await drained;
  }

  get #isDone(): boolean {
    return !this.#small.isScheduled && !this.#large.isScheduled;
  }

  /** Commits a group; the next one follows with other work in between. */
  #flush(line: Line): void {
    const late = this.#transact(takeRows(line.jobs));
    line.jobs.unshift(...late);
    const left = line.jobs.length;
    if (late.length > 0) {
      setTimeout(() => this.#schedule(line, left), nextTry(line.tries));
      line.tries += 1;
      return;
    }
    line.tries = 0;
    line.isScheduled = false;
    if (left > 0) this.#schedule(line, left + 1);
    else if (this.#isDone) this.#drained();
  }

  /** Returns those that have to wait for another process's write. */
  #transact(jobs: Job[]): Job[] {
    try {
      this.#verify();
      this.#begin.run();
    } catch (error) {
      if (isBusy(error)) return this.#patientOf(jobs);
      for (const job of jobs) job.reject(error);
      return [];
    }
    const results: unknown[] = [];
    try {
      for (const job of jobs) results.push(job.work());
      this.#commit.run();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if (jobs.length > 1) return this.#transactEach(jobs);
      jobs[0]?.reject(error);
      return [];
    }
    try {
      this.#verify();
    } catch (error) {
      for (const job of jobs) job.reject(error);
      return [];
    }
    this.#committed(jobs.reduce((rows, job) => rows + job.rows, 0));
    jobs.forEach((job, index) => {
      job.resolve(results[index]);
    });
    return [];
  }

  #transactEach(jobs: Job[]): Job[] {
    for (const [index, job] of jobs.entries()) {
      const late = this.#transact([job]);
      if (late.length > 0) return [...late, ...jobs.slice(index + 1)];
    }
    return [];
  }

  /** Refuses those that have waited too long. */
  #patientOf(jobs: Job[]): Job[] {
    const oldest = monotonic() - this.#patience;
    for (const job of jobs) if (job.since <= oldest) job.reject(lockedTooLong());
    return jobs.filter((job) => job.since > oldest);
  }
}

const newLine = (): Line => ({ jobs: [], isScheduled: false, tries: 0 });

/** Takes jobs from the front until they have enough rows for a transaction. */
function takeRows(jobs: Job[]): Job[] {
  let rows = 0;
  let count = 0;
  while (count < jobs.length && rows < maxRows) {
    rows += jobs[count]?.rows ?? 0;
    count += 1;
  }
  return jobs.splice(0, count);
}
