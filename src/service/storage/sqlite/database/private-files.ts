import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DataError } from '../../../errors/data-error.js';

const ownersOnly = 0o600;

/** Makes a file that only its owner can read and write, whatever the umask; one that is there becomes so. */
export function makePrivate(path: string): void {
  // A look costs less than the error of a file that is there, as it is at most starts.
  const file = existsSync(path) ? null : openNew(path);
  if (file !== null) {
    giveToOwner(dirname(path), (uid, gid) => fchownSync(file, uid, gid));
    closeSync(file);
  }
  // Not opened: to close it would give up the locks of another connection of this process.
  else if (existsSync(path)) accessSync(path, constants.W_OK);
  // A link to nothing.
  else closeSync(openSync(path, 'a', ownersOnly));
  restrict(path);
}

/** Null where it is there: it may be a link to somebody's file. */
function openNew(path: string): number | null {
  try {
    return openSync(path, 'ax', ownersOnly);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return null;
  }
}

/** A new folder in that of a service, by the same rule. */
export const giveFolderToOwner = (path: string): void =>
  giveToOwner(dirname(path), (uid, gid) => chownSync(path, uid, gid));

/** An owner's command that root runs leaves nothing that the service, as another user, cannot read; as SQLite does. */
function giveToOwner(folder: string, change: (uid: number, gid: number) => void): void {
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() !== 0 || uid === 0) return;
  try {
    change(uid, gid);
  } catch (error) {
    // Root of a container may not, or not know the user.
    if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The same for an SQLite file and what SQLite keeps beside it, which gets its mode from it. */
export function makeDatabasePrivate(path: string): void {
  makePrivate(path);
  for (const suffix of ['-wal', '-shm']) {
    try {
      restrict(path + suffix);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Windows has no such modes: a folder in the user's profile is the user's. */
function restrict(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o777) === ownersOnly) return;
  try {
    chmodSync(path, ownersOnly);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause;
    throw new DataError(`${path} can be read by others and belongs to another user`, {
      hint: `Run this as its owner, or: chown "$USER" ${path}`,
      cause,
    });
  }
}
