import { basename } from 'node:path';
import { checksOf, outboxCheck } from '../../checks/checks.js';
import type { Check, Mismatch } from '../../checks/mismatches.js';
import { whenFree } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { type Engine, loadEngine } from '../database/engine.js';
import { checkSameVersion } from '../database/open.js';
import { inLeaseRun, leaseRuns } from '../dispatch/leases.js';
import { anyReset } from '../erase/resets.js';
import { type DataFiles, filesOf, sizeOf } from '../installation/folder.js';
import { migrations } from '../schema/schema.js';
import { damageOf, filesProblem, isSqliteError, strangersOf } from './files-problem.js';

const checks: Check[] = [
  ...checksOf({
    inBatch: 'm.seq BETWEEN b.first_message AND b.first_message + b.total - 1 AND m.batch = b.seq',
    field: (...path) => `CAST(json_extract(body, '$.${path.join('.')}') AS text)`,
    firstMessage: 'b.first_message',
    // Keys and messages are stored in the same order.
    used: 'seq',
    isOfAnotherKey:
      'about <= max(about) OVER (ORDER BY used ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)',
  }),
  {
    check: 'lease',
    sql: `SELECT id AS subject, CASE WHEN status <> 'queued' THEN 'it has ended, and is still waiting or claimed'
          WHEN lease IS NULL THEN 'it waits for nothing, and would never be sent'
          ELSE 'it is claimed by ' || lease || ', which does not exist' END AS problem
      FROM messages
      WHERE CASE WHEN status <> 'queued' THEN lease IS NOT NULL OR due_at IS NOT NULL
        WHEN lease IS NULL THEN due_at IS NULL
        ELSE lease NOT IN (SELECT token FROM leases) END`,
  },
  {
    check: 'lease',
    sql: `SELECT token AS subject, 'it counts ' || l.open || ' messages, and has ' || count(m.seq) AS problem
      FROM ${leaseRuns} LEFT JOIN messages m ON ${inLeaseRun}
      WHERE NOT (${anyReset})
      GROUP BY l.token HAVING count(m.seq) <> l.open OR count(m.seq) = 0`,
  },
];

const mostDamage = 1_000;
/** The files are read one after another: a start in between raises the epochs of some. */
const mostTries = 5;

/** Lists everything that is wrong with the data in a folder, in one snapshot, beside processes that use it. */
export async function* verifyFiles(
  directory: string,
  carrierMigrations: readonly string[],
): AsyncGenerator<Mismatch> {
  const engine = await loadEngine();
  const files = filesOf(directory);
  for (const path of [files.store, files.carrier]) {
    if (sizeOf(path)) continue;
    yield { check: 'files', subject: basename(path), problem: 'it is missing or empty' };
    return;
  }
  const problem = await filesOfOneTime(engine, files);
  if (problem !== null) yield { check: 'files', subject: directory, problem };
  for (const [path, steps] of [
    [files.store, migrations],
    [files.carrier, carrierMigrations],
  ] as const) {
    const database = openSnapshot(engine, path);
    try {
      await whenFree(() => checkSameVersion(database, basename(path), steps));
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    } finally {
      database.close();
    }
  }
  yield* verifyFile(engine, files.store, checks, migrations);
  yield* verifyFile(engine, files.carrier, [outboxCheck], carrierMigrations);
}

async function filesOfOneTime(engine: Engine, files: DataFiles): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    const store = openSnapshot(engine, files.store);
    const carrier = openSnapshot(engine, files.carrier);
    try {
      const problem = await whenFree(() => filesProblem(files, store, carrier));
      if (problem === null || tries === mostTries) return problem;
    } catch (error) {
      // Reported with its file.
      if (isSqliteError(error)) return null;
      throw error;
    } finally {
      store.close();
      carrier.close();
    }
  }
}

async function* verifyFile(
  engine: Engine,
  path: string,
  checks: readonly Check[],
  steps: readonly string[],
): AsyncGenerator<Mismatch> {
  const database = openSnapshot(engine, path);
  const subject = basename(path);
  try {
    await whenFree(() => {
      database.exec('PRAGMA temp_store = file; BEGIN');
    });
    for (const problem of [...damageOf(database, mostDamage), ...strangersOf(database, steps)])
      yield { check: 'integrity', subject, problem };
    for (const { check, sql } of checks) {
      for (const row of database.prepare(sql).iterate()) yield { check, ...(row as Omit<Mismatch, 'check'>) };
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    yield { check: 'integrity', subject, problem: (error as Error).message };
  } finally {
    database.close();
  }
}

/** Read-only: if it is the last connection to close, it leaves the -wal unchanged. */
const openSnapshot = (engine: Engine, path: string): Database =>
  new engine.DatabaseSync(path, { timeout: 0, readOnly: true });
