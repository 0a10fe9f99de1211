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
  /** `service.db`: everything the service remembers. */
  store: string;
  /** `operator.db`: what the simulated operator was given. */
  carrier: string;
  /** `rates.db`, which may be lost. */
  rates: string;
  /** 32 bytes that protect verification codes, kept apart from the store. */
  secret: string;
  /** `installation.json`: whose files these are. */
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

/** Begins the name of the folder in which a restore prepares its files; it is there after one that was cut short. */
export const restoring = 'restoring-';

const ownersOnly = 0o700;
const writableByOthers = 0o022;

/** Makes a folder that only its owner can use. One that is there has to be writable for nobody else. */
export function prepareFolder(directory: string): void {
  makeFolders(directory);
  if (process.platform === 'win32') return;
  const { mode } = statSync(directory);
  if ((mode & writableByOthers) === 0) return;
  throw new DataError(`${directory} can be written to by others`, {
    hint: `Run: chmod go-w '${directory}', or name a new folder in it, which is made for you alone.`,
  });
}

/** Makes a new folder for its owner alone. */
export function makeFolder(path: string): void {
  mkdirSync(path, { mode: ownersOnly });
  // The umask may have taken rights from its owner.
  if (process.platform !== 'win32') chmodSync(path, ownersOnly);
}

/** Renames in it are on disk when it returns. Windows has no such call. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** Not the `recursive` of Node.js: it never returns where every new folder is answered with ENOENT, as in /proc. */
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

/** Null where there is no such file. */
export function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** Renames a file that cannot be used, and keeps it. */
export function setAside(path: string): void {
  const aside = `${path}.aside-${new Date().toISOString().replace(/[^0-9]/g, '')}`;
  for (const suffix of ['', '-wal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  rmSync(`${path}-shm`, { force: true });
}
