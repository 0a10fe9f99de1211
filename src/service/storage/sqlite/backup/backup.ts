import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataError } from '../../../data-error.js';
import { isSecretOf } from '../../secret.js';
import { isDamaged } from '../database/busy.js';
import type { Database } from '../database/open.js';
import { prepareHolds } from '../holds.js';
import { staleOf } from '../installation/enter.js';
import { type DataFiles, filesOf, makeFolder, prepareFolder, syncFolder } from '../installation/folder.js';
import { type Identity, readIdentity } from '../installation/identity.js';
import { readSecret } from '../installation/secret.js';
import { openStoreDatabase } from '../sqlite-store.js';
import { type CarrierCopies, closeAlone, copyData } from './copy-data.js';

/** What a backup has. */
export interface Backup {
  messages: number;
  deliveries: number;
}

/** A start of the service meanwhile raises the epochs of some of the files that are copied. */
const most = 5;

/**
 * Makes a backup in a new folder, beside processes that use the data: written beside it, verified and renamed. Throws
 * DataError where the data is not whole. Whoever opens the backup itself finds it held.
 */
export async function backupData(directory: string, target: string, copies: CarrierCopies): Promise<Backup> {
  if (existsSync(target)) {
    throw new DataError(`${target} is there already`, { hint: 'Name a new folder for each backup.' });
  }
  const above = dirname(target);
  if (!existsSync(above)) prepareFolder(above);
  const made = `${target}.new-${process.pid}`;
  rmSync(made, { recursive: true, force: true });
  makeFolder(made);
  try {
    const to = filesOf(made);
    for (let tries = 1; ; tries += 1) {
      await copyData(filesOf(directory), to, copies);
      const problem = await problemOf(to, copies);
      if (problem === null) break;
      if (tries < most) continue;
      throw new DataError(`the data in ${directory} cannot be backed up: ${problem}`, {
        hint: 'No backup was made. See: urtuu service verify',
      });
    }
    const backup = await hold(to, copies);
    syncFolder(made);
    renameSync(made, target);
    syncFolder(above);
    return backup;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!isDamaged(error)) throw error;
    throw new DataError(`the data in ${directory} is damaged: ${(error as Error).message}`, {
      hint: 'No backup was made. See: urtuu service verify',
      cause: error,
    });
  }
}

/** Null where the copies are whole and belong together. */
async function problemOf(files: DataFiles, { openCarrier }: CarrierCopies): Promise<string | null> {
  const secret = readSecret(files.secret);
  if (secret === null) return 'the secret is missing or damaged';
  const identity = readIdentity(files.identity);
  if (identity === null || identity === 'damaged') return 'installation.json is missing or damaged';
  if (!existsSync(files.carrier)) return 'operator.db is missing';
  const store = await openStoreDatabase(files.store);
  const carrier = await openCarrier(files.carrier);
  try {
    for (const database of [store, carrier]) {
      const [first] = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[];
      if (first?.integrity_check !== 'ok') return `a database is damaged: ${first?.integrity_check}`;
    }
    const row = identityIn(store);
    const stamped = identityIn(carrier);
    if (row === undefined || row.id !== stamped?.id || row.id !== identity.id)
      return 'its files do not belong together';
    if (row.wal_follows === 1) return 'service.db lacks its -wal file';
    if (!isSecretOf(row.secret_fingerprint ?? null, secret)) return 'the secret is another one';
    const [stale] = staleOf(row.epoch, { carrier: stamped.epoch, identity: identity.epoch });
    return stale === undefined ? null : 'one of its files is an old copy';
  } finally {
    closeAlone(store);
    closeAlone(carrier);
  }
}

const identityIn = (database: Database) =>
  database.prepare('SELECT * FROM installation').get() as
    | (Identity & { secret_fingerprint?: Uint8Array | null; wal_follows?: number })
    | undefined;

async function hold(files: DataFiles, { openCarrier }: CarrierCopies): Promise<Backup> {
  const store = await openStoreDatabase(files.store);
  prepareHolds(store).begin('restored');
  const messages = countOf(store, 'messages');
  closeAlone(store);
  const carrier = await openCarrier(files.carrier);
  const deliveries = countOf(carrier, 'deliveries');
  closeAlone(carrier);
  return { messages, deliveries };
}

const countOf = (database: Database, table: string) =>
  (database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
