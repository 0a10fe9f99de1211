import { existsSync } from 'node:fs';
import type { Random } from '../../../random.js';
import { secretLength } from '../../shared/secret.js';
import { isDamaged } from '../database/busy.js';
import type { Database } from '../database/database.js';
import { versionOf } from '../database/open.js';
import { openStoreDatabase } from '../sqlite-store.js';
import { useOwnCheckpoints } from './checkpoint.js';
import { enter } from './enter.js';
import { type DataFiles, filesOf, prepareFolder, setAside, sizeOf } from './folder.js';
import { DataGuard } from './guard.js';
import { readIdentity } from './identity.js';
import { refuseMoved } from './moves.js';
import { dataError, type Problem } from './problems.js';

/** The open data files of a service. */
export interface Installation {
  /** The same in all files. */
  id: string;
  store: Database;
  carrier: Database;
  /** Path of the shared rates; null in memory. */
  rates: string | null;
  /** Protects verification codes, kept apart from the store. */
  secret: Uint8Array;
  /** Watches that the files stay in place; null if no other process can use them: in memory, and during a move. */
  guard: DataGuard | null;
}

export interface InstallationOptions {
  /** Opens incomplete data: unusable files are set aside and created anew. */
  acceptData?: boolean;
  /** For a move: keeps all other processes out until the files are closed, and opens data that is being moved. */
  isMove?: boolean;
  /** Checks the store before its schema is brought up to date. */
  check?(store: Database): void;
  /** Called for errors while the files are watched. */
  report?(error: unknown): void;
  /** Opens the simulated operator's file, which is kept together with the store. */
  openCarrier(path: string): Promise<Database>;
}

/**
 * Opens the data in a folder that only its owner can read; without a folder, everything is in memory. Throws
 * DataError if files are missing or do not belong together: see enter.ts.
 */
export async function openInstallation(
  directory: string | undefined,
  random: Random,
  options: InstallationOptions,
): Promise<Installation> {
  if (directory === undefined) {
    const store = await openStoreDatabase(':memory:');
    const carrier = await options.openCarrier(':memory:');
    const secret = random.bytes(secretLength);
    return { id: '', store, carrier, rates: null, secret, guard: null };
  }
  prepareFolder(directory);
  const files = filesOf(directory);
  try {
    return await openFiles(files, random, options);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    if (!options.acceptData) throw dataError(files, [{ file: 'store', what: 'is damaged' }], error);
    setAside(files.store);
    return openFiles(files, random, options);
  }
}

async function openFiles(
  files: DataFiles,
  random: Random,
  { acceptData = false, isMove = false, report = () => {}, ...options }: InstallationOptions,
): Promise<Installation> {
  const store = await openStore(files, acceptData, isMove, options.check);
  try {
    if (!isMove) refuseMoved(store, files);
    useOwnCheckpoints(store);
    const openCarrier = () =>
      openUsable(files, 'carrier', acceptData, () => options.openCarrier(files.carrier));
    const entered = await enter({ files, store, random, acceptData, openCarrier });
    const guard = isMove ? null : new DataGuard(files, entered.id, store, report);
    return { ...entered, store, rates: files.rates, guard };
  } catch (error) {
    store.close();
    throw error;
  }
}

async function openStore(
  files: DataFiles,
  acceptData: boolean,
  isAlone: boolean,
  check: InstallationOptions['check'],
): Promise<Database> {
  // In this order: the store is created first, so if another file exists, it must exist too.
  const others = [files.identity, files.secret, files.carrier].some((path) => existsSync(path));
  const size = sizeOf(files.store);
  const refuse = (what: string): void => {
    if (!acceptData) throw dataError(files, [{ file: 'store', what }]);
  };
  if (others && size === null) refuse('is missing');
  if (others && size === 0) {
    refuse('is empty');
    // SQLite would delete the -wal beside it.
    setAside(files.store);
  }
  for (const problem of cutOffOf(files)) {
    if (!acceptData) throw dataError(files, [problem]);
    setAside(files[problem.file]);
  }
  return openUsable(files, 'store', acceptData, () =>
    openStoreDatabase(files.store, {
      isAlone,
      check(database) {
        if (others && versionOf(database) === 0) refuse('is empty, or its -wal file is missing');
        check?.(database);
      },
    }),
  );
}

/** Data files never become smaller. */
function cutOffOf(files: DataFiles): Problem[] {
  const identity = readIdentity(files.identity);
  if (identity === null || identity === 'damaged') return [];
  return (['store', 'carrier'] as const)
    .filter((file) => (sizeOf(files[file]) || Number.POSITIVE_INFINITY) < identity.sizes[file])
    .map((file) => ({ file, what: 'was cut off' }));
}

/** Opens a file. A damaged one is refused, or set aside if that is allowed. */
async function openUsable(
  files: DataFiles,
  file: Problem['file'],
  acceptData: boolean,
  open: () => Promise<Database>,
): Promise<Database> {
  if (acceptData && sizeOf(files[file]) === 0) setAside(files[file]);
  try {
    return await open();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    if (!acceptData) throw dataError(files, [{ file, what: 'is damaged' }], error);
    setAside(files[file]);
    return open();
  }
}
