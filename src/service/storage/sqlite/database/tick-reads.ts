import { isBusy, whenFree } from './busy.js';
import type { Database } from './database.js';

/** Node.js's own: see event-loop.ts. */
const atEndOfTick = setImmediate;

interface Read {
  work: () => unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Does the reads of a tick of the event loop at its end, in one transaction: one for each costs more than its rows. */
export function tickReads(database: Database, check: () => void) {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  let waiting: Read[] = [];

  function together(reads: readonly Read[]): (() => void)[] {
    check();
    if (reads.length === 1) return reads.map(done);
    begin.run();
    try {
      return reads.map(done);
    } finally {
      // SQLite ends one by itself after some errors.
      if (database.isTransaction) commit.run();
    }
  }

  return <Result>(work: () => Result): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (waiting.length > 1) return;
      atEndOfTick(() => {
        const reads = waiting;
        waiting = [];
        whenFree(() => together(reads)).then(
          (ends) => {
            for (const end of ends) end();
          },
          (error) => {
            for (const one of reads) one.reject(error);
          },
        );
      });
    });
}

/** Ends it once the transaction is over: while another process has a lock, all are read again. */
function done({ work, resolve, reject }: Read): () => void {
  try {
    const value = work();
    return () => resolve(value);
  } catch (error) {
    if (isBusy(error)) throw error;
    return () => reject(error);
  }
}
