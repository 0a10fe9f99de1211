import { existsSync } from 'node:fs';
import { isSecretOf } from '../../shared/secret.js';
import { isBusy } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { versionOf } from '../database/open.js';
import { staleOf } from '../installation/enter.js';
import { type DataFiles, sizeOf } from '../installation/folder.js';
import { type Identity, readIdentity } from '../installation/identity.js';
import { readSecret } from '../installation/secret.js';

type Row = Identity & { secret_fingerprint?: Uint8Array | null; wal_follows?: number };

const rowOf = (database: Database) => database.prepare('SELECT * FROM installation').get() as Row | undefined;

/** Why the files do not belong together; null if they do. */
export function filesProblem(files: DataFiles, store: Database, carrier: Database): string | null {
  const secret = readSecret(files.secret);
  if (secret === null) return `the secret is ${existsSync(files.secret) ? 'damaged' : 'missing'}`;
  const identity = readIdentity(files.identity);
  if (identity === null || identity === 'damaged')
    return `installation.json is ${identity === null ? 'missing' : 'damaged'}`;
  const row = rowOf(store);
  const stamped = rowOf(carrier);
  if (row === undefined || row.id !== identity.id)
    return 'service.db and installation.json do not belong together';
  if (row.id !== stamped?.id) return 'operator.db does not belong to service.db';
  if (row.wal_follows === 1 && !sizeOf(`${files.store}-wal`)) return 'service.db lacks its -wal file';
  if (!isSecretOf(row.secret_fingerprint ?? null, secret)) return 'the secret is another one';
  const [stale] = staleOf(row.epoch, { carrier: stamped.epoch, identity: identity.epoch });
  return stale === undefined ? null : 'one of the files is an old copy';
}

/** Problems that SQLite finds in a database, at most `limit`. */
export function damageOf(database: Database, limit: number): string[] {
  const rows = database.prepare(`PRAGMA integrity_check(${limit})`);
  try {
    return (rows.all() as { integrity_check: string }[])
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    return [error.message];
  }
}

/**
 * Triggers and views that no release has made, which would change what is written or read; and those that are missing.
 * A release writes each of them as it stands in a step of the schema.
 */
export function strangersOf(database: Database, steps: readonly string[]): string[] {
  const found = database
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')")
    .all() as { type: string; name: string; sql: string }[];
  const own = steps.slice(0, versionOf(database));
  const foreign = found.filter(({ sql }) => !own.some((step) => step.includes(sql)));
  const created = own.flatMap((step) => [...step.matchAll(/CREATE (?:TRIGGER|VIEW) (\w+)/g)]);
  const missing = created.filter(([, name]) => !found.some((one) => one.name === name));
  return [
    ...foreign.map(({ type, name }) => `the ${type} ${name} is not part of urtuu`),
    ...missing.map(([, name]) => `${name} is missing`),
  ];
}

/** Errors of reading rows too, to which the engine for Node.js 20 gives no SQLite code. */
export const isSqliteError = (error: unknown): error is Error =>
  (error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR' && !isBusy(error);
