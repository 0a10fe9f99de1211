import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataError } from '../../../data-error.js';
import { isDamaged } from '../database/busy.js';
import type { Database } from '../database/open.js';
import { prepareHolds } from '../holds.js';
import { type DataFiles, filesOf, makeFolder, prepareFolder, syncFolder } from '../installation/folder.js';
import { openStoreDatabase } from '../sqlite-store.js';
import { type CarrierCopies, closeAlone, copyData } from './copy-data.js';
import { damageOf, filesProblem } from './files-problem.js';

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
  if (!existsSync(files.carrier)) return 'operator.db is missing';
  const store = await openStoreDatabase(files.store);
  const carrier = await openCarrier(files.carrier);
  try {
    const [damage] = [...damageOf(store, 1), ...damageOf(carrier, 1)];
    return damage ?? filesProblem(files, store, carrier);
  } finally {
    closeAlone(store);
    closeAlone(carrier);
  }
}

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
