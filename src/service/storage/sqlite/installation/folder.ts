import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DataError } from '../../../errors/data-error.js';

/** The files of an installation. */
export interface DataFiles {
  /** `service.db`: everything that the service stores. */
  store: string;
  /** `operator.db`: everything that the simulated operator received. */
  carrier: string;
  /** `rates.db`, which may be lost. */
  rates: string;
  /** 32 bytes that protect verification codes, kept apart from the store. */
  secret: string;
  /** `installation.json`: which installation the files belong to. */
  identity: string;
}

export function filesOf(directory: string): DataFiles {
  return {
    store: join(directory, 'service.db'),
    carrier: join(directory, 'operator.db'),
    rates: join(directory, 'rates.db'),
    secret: join(directory, 'secret'),
    identity: join(directory, 'installation.json'),
  };
}

/** The prefix of the folder in which a restore prepares its files; it remains after an interrupted one. */
export const restoring = 'restoring-';

const ownersOnly = 0o700;
export const writableByOthers = 0o022;

/** Creates a folder that only its owner can use. An existing one must not be writable for others. */
export function prepareFolder(directory: string): void {
  makeFolders(directory);
  if (process.platform === 'win32') return;
  const { mode } = statSync(directory);
  if ((mode & writableByOthers) === 0) return;
  throw new DataError(`${directory} can be written to by others`, {
    hint: `Run: chmod go-w '${directory}', or name a new folder in it, which is made for you alone.`,
  });
}

/** Creates a new folder for its owner only. */
export function makeFolder(path: string): void {
  mkdirSync(path, { mode: ownersOnly });
  // The umask may have removed rights of its owner.
  if (process.platform !== 'win32') chmodSync(path, ownersOnly);
}

/** Renames in it are on disk when it returns. Windows has no such call. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** Not Node.js's `recursive`, which never returns if every new folder is answered with ENOENT, as in /proc. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(above);
  try {
    makeFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Null if there is no such file. */
export function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** Renames an unusable file, to keep it. */
export function setAside(path: string): void {
  const aside = `${path}.aside-${new Date().toISOString().replace(/[^0-9]/g, '')}`;
  for (const suffix of ['', '-wal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  rmSync(`${path}-shm`, { force: true });
}
