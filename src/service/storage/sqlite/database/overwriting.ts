import type { Database } from './open.js';

/** What `work` deletes is overwritten, and does not stay in pages that are free. */
export function overwriting<Result>(database: Database, work: () => Result): Result {
  database.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    database.exec('PRAGMA secure_delete = OFF');
  }
}
