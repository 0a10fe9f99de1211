import { existsSync, statSync } from 'node:fs';
import { openCarrierDatabase } from '../carriers/simulated.js';
import { isDamaged, whenFree } from '../database/busy.js';
import { type Database, versionOf } from '../database/open.js';
import type { Random } from '../random.js';
import { openStoreDatabase } from '../store/sqlite/sqlite-store.js';
import { enter } from './enter.js';
import { type DataFiles, filesOf, prepareFolder, setAside } from './folder.js';
import { DataGuard } from './guard.js';
import { dataError, type Problem } from './problems.js';
import { secretLength } from './secret.js';

/** What a service keeps its data in. */
export interface Installation {
  /** The same in all its files. */
  id: string;
  store: Database;
  carrier: Database;
  /** Path of the shared rates; null in memory. */
  rates: string | null;
  /** Protects verification codes, kept apart from the store. */
  secret: Uint8Array;
  /** Watches that the files stay where they are; null in memory, which no other process can use. */
  guard: DataGuard | null;
}

export interface InstallationOptions {
  /** Goes on with what is there, makes anew what cannot be used, and sets that aside. */
  acceptData?: boolean;
}

/**
 * Opens the data in a folder that only its owner can read; without one everything is in memory. Throws DataError
 * where the files are not all there, or not those that belong together: see enter.ts.
 */
export async function openInstallation(
  directory: string | undefined,
  random: Random,
  { acceptData = false }: InstallationOptions = {},
): Promise<Installation> {
  if (directory === undefined) {
    const [store, carrier] = [await openStoreDatabase(':memory:'), await openCarrierDatabase(':memory:')];
    const secret = random.bytes(secretLength);
    return { id: '', store, carrier, rates: null, secret, guard: null };
  }
  prepareFolder(directory);
  const files = filesOf(directory);
  const store = await openStore(files, acceptData);
  try {
    const entered = await enter({
      files,
      store,
      random,
      acceptData,
      openCarrier: () => openUsable(files, 'carrier', acceptData, () => openCarrierDatabase(files.carrier)),
    });
    return { ...entered, store, rates: files.rates, guard: new DataGuard(files, entered.id, store) };
  } catch (error) {
    leave(store, files.store);
    throw error;
  }
}

async function openStore(files: DataFiles, acceptData: boolean): Promise<Database> {
  // In this order: the store is the first that is made, so where another file is, it has to be there too.
  const others = [files.identity, files.secret, files.carrier].some((path) => existsSync(path));
  const size = statSync(files.store, { throwIfNoEntry: false })?.size ?? null;
  const refuse = (what: string): void => {
    if (!acceptData) throw dataError(files, [{ file: 'store', what }]);
  };
  if (others && size === null) refuse('is missing');
  if (others && size === 0) {
    refuse('is empty');
    // SQLite would delete the -wal beside it.
    setAside(files.store);
  }
  return openUsable(files, 'store', acceptData, () =>
    openStoreDatabase(files.store, (database) => {
      if (others && versionOf(database) === 0) refuse('is empty, or its -wal file is missing');
    }),
  );
}

/** Opens a file; one that is damaged is refused, or set aside where that is accepted. */
async function openUsable(
  files: DataFiles,
  file: Problem['file'],
  acceptData: boolean,
  open: () => Promise<Database>,
): Promise<Database> {
  try {
    return await open();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    if (!acceptData) throw dataError(files, [{ file, what: 'is damaged' }], error);
    setAside(files[file]);
    return open();
  }
}

/** Closes what was refused. As the last connection it takes the -wal away, which must not look like a loss. */
function leave(store: Database, path: string): void {
  try {
    const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (wal > 0) store.exec('UPDATE installation SET clean = 1 WHERE clean = 0');
    store.close();
  } catch {
    // Left open rather than closed without the mark: then the -wal stays.
  }
}

/** To be called before the store is closed; where it rejects, the store has to stay open. */
export async function markClosed(store: Database): Promise<void> {
  await whenFree(() => store.exec('UPDATE installation SET clean = 1 WHERE clean = 0'), 2_000);
}
