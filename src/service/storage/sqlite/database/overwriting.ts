import type { Database } from './database.js';

/** What `work` deletes is overwritten, in pages that become free too. */
export function overwriting<Result>(database: Database, work: () => Result): Result {
  database.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    database.exec('PRAGMA secure_delete = fast');
  }
}
