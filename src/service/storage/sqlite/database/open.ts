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
   * What a power loss takes: with `full` no commit that has returned, with `normal` the last ones, and with `off` the
   * file, which may be damaged then.
   */
  synchronous: 'full' | 'normal' | 'off';
  /** Steps from version n to n + 1 of the schema, as SQL. */
  migrations: readonly string[];
  /** Whether the file as it was is kept beside it before its schema changes. */
  keepsCopy?: boolean;
  /** Milliseconds to wait for other processes. */
  patience?: number;
  /** Keeps every other process out until it is closed. */
  isAlone?: boolean;
  /** Looks at the file before its schema is touched. */
  check?: (database: Database) => void;
}

/**
 * Opens an SQLite file (or `:memory:`) in WAL mode and brings its schema up to date. Its connection never waits
 * for a lock: see busy.ts. Throws EngineError without an SQLite engine, and DataError for a file of a newer urtuu.
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
      // fullfsync: elsewhere than on macOS, whose fsync leaves commits in the disk's own memory, it changes nothing.
      // secure_delete: without it pages keep copies of rows that move when a page is split, which no prune would find.
      database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous}; PRAGMA fullfsync = on; PRAGMA temp_store = memory; PRAGMA secure_delete = fast`,
      );
      migrate(database, path, options, engine);
      // Reads the schema, so that nothing prepared later needs a lock for it.
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

/** In pages. */
const longWal = 32;

/**
 * Before closing, so that the file alone is whole: a connection with statements leaves its -wal behind. A long one, which
 * the next start would read from its beginning, is emptied too, where no other process reads it. The first of the two
 * brings the file to the disk, unless `synchronous` is `off`; to set that later is too late, once all has been copied.
 */
export function checkpointBeforeClose(database: Database): void {
  const { log } = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number };
  if (log > longWal) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
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

/** Throws where the schema is older than these steps: a copy of an older release was put in the file's place. */
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
