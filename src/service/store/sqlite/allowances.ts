import { openDatabase } from '../../database/open.js';
import { type Allowances, takeToken } from '../allowances.js';

const migrations = [
  `CREATE TABLE buckets (
     project_id TEXT NOT NULL, kind TEXT NOT NULL, full_at INTEGER NOT NULL, PRIMARY KEY (project_id, kind)
   ) STRICT, WITHOUT ROWID`,
];

/** Allowances in an SQLite file of their own, never synced: a request must not wait for the disk for them. */
export async function openSqliteAllowances(path: string): Promise<Allowances> {
  const database = await openDatabase(path, { synchronous: 'off', migrations });
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const select = database.prepare('SELECT full_at FROM buckets WHERE project_id = ? AND kind = ?');
  const upsert = database.prepare(
    `INSERT INTO buckets (project_id, kind, full_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET full_at = excluded.full_at`,
  );

  return {
    async take(projectId, kind, bucket, now) {
      begin.run();
      try {
        const row = select.get(projectId, kind) as { full_at: number } | undefined;
        const { fullAt, ...taken } = takeToken(row?.full_at ?? null, bucket, now);
        if (taken.allowed) upsert.run(projectId, kind, fullAt);
        commit.run();
        return taken;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    async reset() {
      database.exec('DELETE FROM buckets');
    },
    async close() {
      database.close();
    },
  };
}
