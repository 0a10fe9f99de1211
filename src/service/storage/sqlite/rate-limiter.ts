import { renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, monotonic } from '../../clock.js';
import { type Bucket, type SharedBuckets, type Taken, takeToken } from '../rate-limiter.js';
import { factorAt, lower, type Permits, type RouteRate, takePermits } from '../route-limits.js';
import { isBusy, isDamaged, nextTry } from './database/busy.js';
import type { Database } from './database/database.js';
import { checkpointBeforeClose, openDatabase } from './database/open.js';

const migrations = [
  `CREATE TABLE buckets (
     project_id TEXT NOT NULL, kind TEXT NOT NULL, full_at INTEGER NOT NULL, PRIMARY KEY (project_id, kind)
   ) STRICT, WITHOUT ROWID`,
  'CREATE TABLE installation (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT',
  'CREATE TABLE routes (name TEXT PRIMARY KEY, next_at REAL NOT NULL) STRICT, WITHOUT ROWID',
  // A rate lowered because its carrier throttles: the remaining share, and when.
  'ALTER TABLE routes ADD COLUMN factor REAL NOT NULL DEFAULT 1; ALTER TABLE routes ADD COLUMN lowered_at REAL NOT NULL DEFAULT 0',
];

/** Milliseconds that requests wait together for another process before they go without the file. */
const patience = 250;
/** Milliseconds between attempts to use an unusable file, and between checks whether it still exists. */
const lookEvery = 1_000;

/** Each in a transaction. */
interface Takes {
  take(projectId: string, kind: string, bucket: Bucket): Taken;
  takePermits(route: string, perSecond: number, wanted: number): Permits;
  lowerRate(route: string, perSecond: number, answeredMs: number): number;
}

interface OpenFile extends Takes {
  database: Database;
  inode: string;
}

export interface BucketFileOptions {
  path: string;
  /** The installation to which the file must belong; another's is set aside. */
  installation: string;
  clock: Clock;
  /** Called for a file that was set aside or cannot be used. */
  report(error: unknown, about?: { level: 'warning' }): void;
}

/**
 * Buckets in a separate SQLite file, never synced, because requests must not wait for the disk. Nothing depends on
 * the file: while it is locked, damaged or gone, or the disk is full, `take` returns null.
 */
export async function openSqliteBuckets({
  path,
  installation,
  clock,
  report,
}: BucketFileOptions): Promise<SharedBuckets> {
  let file: OpenFile | null = null;
  let opening: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let busySince: number | null = null;
  let reported = false;

  async function open(): Promise<void> {
    try {
      file = await openFile({ path, installation, clock, report });
      reported = false;
    } catch (error) {
      file = null;
      if (!isBusy(error) && !reported) report(error);
      reported = true;
    }
  }

  /** The file, reopened from time to time if it cannot be used or was replaced. */
  async function current(): Promise<OpenFile | null> {
    if (monotonic() - lookedAt >= lookEvery) {
      lookedAt = monotonic();
      if (file !== null && inodeOf(path) !== file.inode) giveUp();
      if (file === null) opening ??= open().finally(() => (opening = null));
    }
    if (opening !== null) await opening;
    return file;
  }

  function giveUp(): void {
    file?.database.close();
    file = null;
  }

  async function takeFrom<Result>(take: (file: Takes) => Result): Promise<Result | null> {
    for (let tries = 0; ; tries += 1) {
      const used = await current();
      if (used === null) return null;
      try {
        const taken = take(used);
        busySince = null;
        return taken;
      } catch (error) {
        if (!isBusy(error)) {
          if (!reported) report(error);
          reported = true;
          if (file === used) giveUp();
          return null;
        }
      }
      busySince ??= monotonic();
      if (monotonic() - busySince >= patience) return null;
      await pause(nextTry(tries));
    }
  }

  lookedAt = monotonic();
  await open();
  return {
    take: (projectId, kind, bucket) => takeFrom((file) => file.take(projectId, kind, bucket)),
    takePermits: (route, perSecond, wanted) => takeFrom((file) => file.takePermits(route, perSecond, wanted)),
    lowerRate: (route, perSecond, answeredMs) =>
      takeFrom((file) => file.lowerRate(route, perSecond, answeredMs)),
    async reset() {
      try {
        file?.database.exec('DELETE FROM buckets');
      } catch (error) {
        report(error);
      }
    },
    async close() {
      await opening;
      try {
        if (file !== null) checkpointBeforeClose(file.database);
      } catch {
        // The next start recreates it if it is damaged.
      } finally {
        giveUp();
      }
    },
  };
}

class ForeignFile extends Error {}

async function openFile({ path, installation, clock, report }: BucketFileOptions): Promise<OpenFile> {
  for (let attempt = 1; ; attempt += 1) {
    const before = inodeOf(path);
    try {
      const database = await openDatabase(path, { synchronous: 'off', migrations, patience });
      try {
        if (!belongsTo(database, installation))
          throw new ForeignFile(`${path} belongs to another installation`);
        return { database, ...takesOf(database, clock), inode: inodeOf(path) };
      } catch (error) {
        database.close();
        throw error;
      }
    } catch (error) {
      if (!(isDamaged(error) || error instanceof ForeignFile) || attempt === 3) throw error;
      // Another process may have created a new one meanwhile.
      if (inodeOf(path) !== before) continue;
      setAside(path);
      const why = (error as Error).message;
      const warning = new Error(`${path} was moved to ${path}.damaged and created anew: ${why}`);
      // Expected, also after --accept-data: a log line without stack frames.
      warning.stack = '';
      report(warning, { level: 'warning' });
    }
  }
}

/** Marks a file that belongs to nobody yet. */
function belongsTo(database: Database, installation: string): boolean {
  const select = database.prepare('SELECT id FROM installation');
  if (select.get() === undefined)
    database.prepare('INSERT INTO installation VALUES (1, ?) ON CONFLICT DO NOTHING').run(installation);
  return (select.get() as { id: string }).id === installation;
}

function setAside(path: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  renameSync(path, `${path}.damaged`);
}

function inodeOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev}.${stat.ino}`;
}

function takesOf(database: Database, clock: Clock): Takes {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const select = database.prepare('SELECT full_at FROM buckets WHERE project_id = ? AND kind = ?');
  const upsert = database.prepare(
    `INSERT INTO buckets (project_id, kind, full_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET full_at = excluded.full_at`,
  );
  const selectRoute = database.prepare('SELECT next_at, factor, lowered_at FROM routes WHERE name = ?');
  const upsertRoute = database.prepare(
    `INSERT INTO routes (name, next_at, factor, lowered_at) VALUES (:name, :nextAt, :factor, :at)
     ON CONFLICT DO UPDATE SET next_at = excluded.next_at, factor = excluded.factor, lowered_at = excluded.lowered_at`,
  );

  function rateOf(name: string, now: number): RouteRate {
    const row = selectRoute.get(name) as RouteRow | undefined;
    if (row === undefined) return { nextAt: null, lowered: null };
    const { next_at: nextAt, factor, lowered_at: at } = row;
    // Only in the future if the clock was set back: it counts as lowered now.
    return { nextAt, lowered: factor < 1 ? { factor, at: Math.min(at, now) } : null };
  }

  function storeRate(name: string, { nextAt, lowered }: RouteRate): void {
    upsertRoute.run({ name, nextAt: nextAt ?? 0, factor: lowered?.factor ?? 1, at: lowered?.at ?? 0 });
  }

  function inTransaction<Result>(work: () => Result): Result {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    take: (projectId, kind, bucket) =>
      inTransaction(() => {
        const before = (select.get(projectId, kind) as { full_at: number } | undefined)?.full_at ?? null;
        const { fullAt, ...taken } = takeToken(before, bucket, clock.now());
        if (fullAt !== before) upsert.run(projectId, kind, fullAt);
        return taken;
      }),
    takePermits: (route, perSecond, wanted) =>
      inTransaction(() => {
        const now = clock.now();
        const rate = rateOf(route, now);
        const { nextAt, ...permits } = takePermits(rate, perSecond, wanted, now);
        if (nextAt !== rate.nextAt) storeRate(route, { ...rate, nextAt });
        return permits;
      }),
    lowerRate: (route, perSecond, answeredMs) =>
      inTransaction(() => {
        const now = clock.now();
        const rate = rateOf(route, now);
        const lowered = lower(rate.lowered, perSecond, answeredMs, now);
        storeRate(route, { ...rate, lowered });
        return factorAt(lowered, now);
      }),
  };
}

interface RouteRow {
  next_at: number;
  factor: number;
  lowered_at: number;
}
