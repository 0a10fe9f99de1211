import { whenFree } from '../database/busy.js';
import type { Database } from '../database/database.js';

/**
 * Commits are in the -wal until a checkpoint writes them to service.db. So that service.db alone shows whether more
 * follows in the -wal, each checkpoint writes that it does, and the -wal takes it back. Closing or copying the
 * database properly includes the -wal; deleting the -wal also deletes the correction.
 */
const mark = 'BEGIN IMMEDIATE; UPDATE installation SET wal_follows = 1; COMMIT';
const unmark = 'BEGIN IMMEDIATE; UPDATE installation SET wal_follows = 0; COMMIT';

/** SQLite's own checkpoints would not write it. */
export function useOwnCheckpoints(store: Database): void {
  store.exec('PRAGMA wal_autocheckpoint = 0');
}

/** Rows after which it checkpoints. */
const rowsBetween = 1_000;
/**
 * Commits after which it checkpoints at once. Small commits write the same pages repeatedly, and appending to a
 * growing -wal costs more than overwriting its old pages.
 */
const commitsBetween = 150;

export class Checkpoints {
  readonly #store: Database;
  #rows = 0;
  #commits = 0;
  #isMarked = false;

  constructor(store: Database) {
    this.#store = store;
  }

  /** Counts a commit. True if `run` should not wait. */
  wrote(rows: number): boolean {
    this.#rows += rows;
    this.#commits += 1;
    return this.#commits % commitsBetween === 0;
  }

  /** Called repeatedly; throws if the file is locked or not writable, and continues at the next call. */
  run(): void {
    const isDue = this.#rows >= rowsBetween || this.#commits >= commitsBetween;
    if (!this.#isMarked && !isDue) return;
    if (!this.#isMarked) {
      this.#execute(mark);
      this.#isMarked = true;
      this.#rows = 0;
      this.#commits = 0;
      this.#store.exec('PRAGMA wal_checkpoint(PASSIVE)');
    }
    this.#execute(unmark);
    this.#isMarked = false;
  }

  /** Called before the store is closed; afterwards service.db is complete on its own. */
  async finish(): Promise<void> {
    if (this.#isMarked) await whenFree(() => this.#execute(unmark), 2_000);
    // Empties the -wal if no other process reads it: the next start would otherwise read and copy all of it again.
    this.#store.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    // Another process had just marked it: if that process were killed now, it would count as a copy with an empty
    // -wal.
    if (this.#saysWalFollows()) await whenFree(() => this.#execute(unmark), 2_000);
  }

  #saysWalFollows(): boolean {
    const row = this.#store.prepare('SELECT wal_follows FROM installation').get();
    return (row as { wal_follows: number }).wal_follows === 1;
  }

  #execute(transaction: string): void {
    try {
      this.#store.exec(transaction);
    } finally {
      if (this.#store.isTransaction) this.#store.exec('ROLLBACK');
    }
  }
}
