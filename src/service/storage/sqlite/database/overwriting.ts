import type { Database } from './database.js';

/** Overwrites what `work` deletes, including in pages that become free. */
export function overwriting<Result>(database: Database, work: () => Result): Result {
  database.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    database.exec('PRAGMA secure_delete = fast');
  }
}
