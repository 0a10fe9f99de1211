import { renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../../../clock.js';
import { DataError } from '../../../errors/data-error.js';
import { lockAlone } from './alone.js';
import { busyPatience, isBusy, lockedTooLong, nextTry } from './busy.js';
import { copyDatabase, copyInto } from './copy.js';
import type { Database } from './database.js';
import { type Engine, loadEngine } from './engine.js';
import { withLateStatements } from './late-statements.js';
import { makeDatabasePrivate } from './private-files.js';

export interface OpenOptions {
  /**
   * What a power loss may destroy: with `full` no commit that has returned, with `normal` the last ones, and with
   * `off` the whole file.
   */
  synchronous: 'full' | 'normal' | 'off';
  /** Steps from version n to n + 1 of the schema, as SQL. */
  migrations: readonly string[];
  /** Whether to keep a copy of the file beside it before its schema changes. */
  keepsCopy?: boolean;
  /** Milliseconds to wait for other processes. */
  patience?: number;
  /** Keeps every other process out until it is closed. */
  isAlone?: boolean;
  /** Checks the file before its schema is changed. */
  check?: (database: Database) => void;
}

/**
 * Opens an SQLite file (or `:memory:`) in WAL mode and updates its schema. Its connection never waits for a lock: see
 * busy.ts. Throws EngineError without an SQLite engine, and DataError for a file of a newer urtuu.
 */
export async function openDatabase(path: string, options: OpenOptions): Promise<Database> {
  const engine = await loadEngine();
  const end = monotonic() + (options.patience ?? busyPatience);
  for (let tries = 0; ; tries += 1) {
    if (path !== ':memory:') makeDatabasePrivate(path);
    const database = new engine.DatabaseSync(path, { timeout: 0 });
    try {
      if (options.isAlone) lockAlone(database, path);
      options.check?.(database);
      // fullfsync: changes nothing except on macOS, whose fsync leaves commits in the disk's own memory.
      // secure_delete: without it, pages keep copies of rows moved by a page split, which no prune would find.
      database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous}; PRAGMA fullfsync = on; PRAGMA temp_store = memory; PRAGMA secure_delete = fast`,
      );
      migrate(database, path, options, engine);
      // Reads the schema, so that later statements need no lock for it.
      database.prepare('SELECT 1 FROM sqlite_schema').get();
      return withLateStatements(database);
    } catch (error) {
      database.close();
      if (!isBusy(error)) throw error;
      if (monotonic() >= end) throw lockedTooLong();
      await pause(nextTry(tries));
    }
  }
}

/**
 * Called before closing, so that the file is complete on its own: a connection with statements leaves its -wal behind,
 * with copies of rows that were erased since. It is emptied, if no other process reads it. The checkpoint syncs the file
 * unless `synchronous` is `off`; setting it later is too late, when everything has been copied.
 */
export function checkpointBeforeClose(database: Database): void {
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function migrate(database: Database, path: string, options: OpenOptions, engine: Engine): void {
  const { migrations, keepsCopy = false, isAlone = false } = options;
  const isKept = (version: number) => keepsCopy && version > 0 && version < migrations.length;
  const found = versionOf(database);
  if (found === migrations.length) return;
  if (isAlone && isKept(found)) keepAs(path, found, (made) => copyInto(database, made));
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version > migrations.length) throw newer(path, version);
    // The transaction keeps other writers out meanwhile.
    if (!isAlone && isKept(version)) keepAs(path, version, (made) => copyDatabase(path, made, engine));
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function keepAs(path: string, version: number, copy: (made: string) => void): void {
  const kept = `${path}.schema-${version}`;
  const made = `${kept}.${process.pid}`;
  copy(made);
  renameSync(made, kept);
}

/** Throws if the schema is older than these steps: the file was replaced by a copy from an older release. */
export function checkVersion(database: Database, steps: readonly string[]): void {
  if (versionOf(database) < steps.length) {
    throw new DataError('the data was written by an older version of urtuu', {
      hint: 'Start the service again, which brings the data up to date.',
    });
  }
}

/** Throws for any other version. */
export function checkSameVersion(database: Database, name: string, steps: readonly string[]): void {
  checkVersion(database, steps);
  if (versionOf(database) > steps.length) throw newer(name, versionOf(database));
}

const newer = (name: string, version: number) =>
  new DataError(`${name} was written by a newer version of urtuu (schema ${version})`, {
    hint: 'Use that version, or give another folder.',
  });

export function versionOf(database: Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}
