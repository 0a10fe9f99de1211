import { copyFileSync, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import { whenFree } from '../database/busy.js';
import { copyDatabase, syncFile } from '../database/copy.js';
import type { Database } from '../database/database.js';
import { type Engine, loadEngine } from '../database/engine.js';
import { makePrivate } from '../database/private-files.js';
import { prepareHolds } from '../dispatch/holds.js';
import { sizesOf } from '../installation/enter.js';
import { type DataFiles, sizeOf } from '../installation/folder.js';
import { readIdentity, writeIdentity } from '../installation/identity.js';
import { refuseCopy } from '../installation/moves.js';
import { migrations } from '../schema/schema.js';
import { openStoreDatabase } from '../sqlite-store.js';
import { strangersOf } from './files-problem.js';

/** How the file of the simulated operator is copied. */
export interface CarrierCopies {
  openCarrier(path: string): Promise<Database>;
  /** Removes everything newer than the copy of the store at `store`. */
  align(carrier: Database, store: string): void;
}

/**
 * Copies data as of one moment, beside processes that use it: first the store, then the simulated operator's file,
 * from which everything newer is removed. Missing files are skipped. The copy is held. It has no sign-ins to the
 * dashboard, because a link used since, or an ended session, would be valid again; nor the dashboard's address, which
 * leads to the original service. Throws DataError for data that is moved to a database.
 */
export async function copyData(from: DataFiles, to: DataFiles, copies: CarrierCopies): Promise<void> {
  const engine = await loadEngine();
  const hasWal = Boolean(sizeOf(`${from.store}-wal`));
  await whenFree(() => copyDatabase(from.store, to.store, engine));
  refuseStrangers(engine, to.store, migrations);
  const store = await openStoreDatabase(to.store);
  try {
    refuseCopy(store, from);
  } catch (error) {
    store.close();
    throw error;
  }
  // The copy includes the -wal.
  if (hasWal) store.exec('UPDATE installation SET wal_follows = 0');
  store.exec('DELETE FROM sign_ins; DELETE FROM dashboard');
  prepareHolds(store).begin('restored');
  closeAlone(store, to.store);
  if (existsSync(from.carrier)) {
    await whenFree(() => copyDatabase(from.carrier, to.carrier, engine));
    refuseStrangers(engine, to.carrier, []);
    const carrier = await copies.openCarrier(to.carrier);
    copies.align(carrier, to.store);
    closeAlone(carrier, to.carrier);
  }
  if (existsSync(from.secret)) copyPrivately(from.secret, to.secret);
  const identity = readIdentity(from.identity);
  if (identity === 'damaged') copyPrivately(from.identity, to.identity);
  // The copies may be smaller than the files.
  else if (identity !== null) await writeIdentity(to.identity, { ...identity, sizes: sizesOf(to) });
}

/** Before anything is written to the copy: a trigger would run. */
function refuseStrangers(engine: Engine, path: string, steps: readonly string[]): void {
  const database = new engine.DatabaseSync(path, { readOnly: true });
  try {
    const [stranger] = strangersOf(database, steps);
    if (stranger === undefined) return;
    throw new DataError(`${basename(path)}: ${stranger}`, {
      hint: 'See: `urtuu service verify`. Drop whatever urtuu did not make, with the sqlite3 command.',
    });
  } finally {
    database.close();
  }
}

/** Leaves a single file at `path`, without a -wal, on disk. */
export function closeAlone(database: Database, path: string): void {
  database.exec('PRAGMA journal_mode = DELETE');
  database.close();
  syncFile(path);
}

export function copyPrivately(from: string, to: string): void {
  makePrivate(to);
  copyFileSync(from, to);
  makePrivate(to);
  syncFile(to);
}
