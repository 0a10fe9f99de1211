import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

export interface OpenOptions {
  /** `full` is on disk when a commit returns; `off` leaves that to the operating system. */
  synchronous: 'full' | 'off';
  /** Steps from version n to n + 1 of the schema, as SQL. */
  migrations: readonly string[];
}

/** Milliseconds to wait for another process that is writing. */
const busyTimeout = 10_000;

/**
 * Opens an SQLite file (or `:memory:`) in WAL mode and brings its schema up to date. Throws a plain error that
 * says what to install when the engine's package is missing, and when a newer urtuu has written the file.
 */
export async function openDatabase(path: string, options: OpenOptions): Promise<Database> {
  const { DatabaseSync } = await loadEngine();
  for (let attempt = 1; ; attempt += 1) {
    const database = new DatabaseSync(path, { timeout: busyTimeout });
    try {
      // Switching to WAL does not wait for other processes by itself.
      database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous}; PRAGMA temp_store = memory`,
      );
      migrate(database, path, options.migrations);
      return database;
    } catch (error) {
      database.close();
      if (attempt === 50 || !/\b(locked|busy)\b/i.test(String(error))) throw error;
      await pause(20);
    }
  }
}

async function loadEngine(): Promise<typeof import('@photostructure/sqlite')> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new Error(
      'the service keeps its data with the package @photostructure/sqlite, which is not installed or does not ' +
        'run here: npm install @photostructure/sqlite',
      { cause },
    );
  }
}

function migrate(database: Database, path: string, migrations: readonly string[]): void {
  if (versionOf(database) === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version > migrations.length) {
      throw new Error(`${path} was written by a newer version of urtuu (schema ${version})`);
    }
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(database: Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}
