import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import { isDamaged } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { rename } from '../database/rename.js';
import { type DataFiles, filesOf, makeFolder, prepareFolder, syncFolder } from '../installation/folder.js';
import { openStoreDatabase } from '../sqlite-store.js';
import { type CarrierCopies, closeAlone, copyData } from './copy-data.js';
import { damageOf, filesProblem } from './files-problem.js';

/** The contents of a backup. */
export interface Backup {
  messages: number;
  deliveries: number;
}

/** If the service starts meanwhile, it raises the epochs of some of the copied files. */
const mostTries = 5;

/**
 * Makes a backup in a new folder, beside processes that use the data: written to a temporary folder, verified and
 * renamed. Throws DataError if the data is incomplete.
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
    const backup = await copyWhole(directory, to, copies);
    syncFolder(made);
    await rename(made, target);
    syncFolder(above);
    return backup;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!isDamaged(error)) throw error;
    throw new DataError(`the data in ${directory} is damaged: ${(error as Error).message}`, {
      hint: 'No backup was made. See: `urtuu service verify`',
      cause: error,
    });
  }
}

async function copyWhole(directory: string, to: DataFiles, copies: CarrierCopies): Promise<Backup> {
  for (let tries = 1; ; tries += 1) {
    await copyData(filesOf(directory), to, copies);
    const found = await look(to, copies);
    if (typeof found !== 'string') return found;
    if (tries < mostTries) continue;
    throw new DataError(`the data in ${directory} cannot be backed up: ${found}`, {
      hint: 'No backup was made. See: `urtuu service verify`',
    });
  }
}

/** What the copies contain, or why they are incomplete or do not belong together. */
async function look(files: DataFiles, { openCarrier }: CarrierCopies): Promise<Backup | string> {
  if (!existsSync(files.carrier)) return 'operator.db is missing';
  const store = await openStoreDatabase(files.store);
  const carrier = await openCarrier(files.carrier);
  try {
    const damage = damageOf(store, 1)[0] ?? damageOf(carrier, 1)[0];
    const problem = damage ?? filesProblem(files, store, carrier);
    return problem ?? { messages: countOf(store, 'messages'), deliveries: countOf(carrier, 'deliveries') };
  } finally {
    closeAlone(store, files.store);
    closeAlone(carrier, files.carrier);
  }
}

const countOf = (database: Database, table: string) =>
  (database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
