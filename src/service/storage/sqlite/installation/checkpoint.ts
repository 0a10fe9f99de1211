import { whenFree } from '../database/busy.js';
import type { Database } from '../database/database.js';

/**
 * Commits lie in the -wal until a checkpoint brings it into service.db. So that service.db alone, from
 * then on, tells that more follows in the -wal, it says so with the checkpoint, and the -wal takes it back. Whoever
 * closes or copies the database in order brings over that as well; a -wal that is deleted takes it along.
 */
const mark = 'BEGIN IMMEDIATE; UPDATE installation SET wal_follows = 1; COMMIT';
const unmark = 'BEGIN IMMEDIATE; UPDATE installation SET wal_follows = 0; COMMIT';

/** SQLite's own checkpoints would not say it. */
export function turnToOwnCheckpoints(store: Database): void {
  store.exec('PRAGMA wal_autocheckpoint = 0');
}

/** Rows after which there is a checkpoint. */
const rowsBetween = 1_000;
/**
 * Commits after which there is one at once. Small commits write the same pages again and again, and what goes to the
 * end of a -wal that grows costs more than what goes over its old pages.
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

  /** Counts a commit. True when `run` should not wait. */
  wrote(rows: number): boolean {
    this.#rows += rows;
    this.#commits += 1;
    return this.#commits % commitsBetween === 0;
  }

  /** To be called again and again; throws where it is locked or cannot be written, and goes on at the next call. */
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

  /** Before the store is closed: service.db alone is whole then. */
  async finish(): Promise<void> {
    if (this.#isMarked) await whenFree(() => this.#execute(unmark), 2_000);
    // Empties the -wal where no other process reads it: the next start would read and copy all of it again.
    this.#store.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    // Another process had just marked it: with an empty -wal it would count as a copy, were that process killed now.
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
