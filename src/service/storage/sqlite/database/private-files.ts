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

/**
 * Creates a file that only its owner can read and write, whatever the umask; an existing file is changed accordingly.
 */
export function makePrivate(path: string): void {
  // Checking first is faster than the error for an existing file, the usual case.
  const file = existsSync(path) ? null : openNew(path);
  if (file !== null) {
    giveToOwner(dirname(path), (uid, gid) => fchownSync(file, uid, gid));
    closeSync(file);
  }
  // Not opened: closing it would release the locks of another connection of this process.
  else if (existsSync(path)) accessSync(path, constants.W_OK);
  // A dangling link.
  else closeSync(openSync(path, 'a', ownersOnly));
  restrict(path);
}

/** Null if it exists: it may be a link to somebody's file. */
function openNew(path: string): number | null {
  try {
    return openSync(path, 'ax', ownersOnly);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return null;
  }
}

/** For a new folder inside a service's folder, by the same rule. */
export const giveFolderToOwner = (path: string): void =>
  giveToOwner(dirname(path), (uid, gid) => chownSync(path, uid, gid));

/**
 * Makes the folder's owner the owner of a file, so that an owner's command run by root leaves nothing that the service
 * cannot read; SQLite does the same.
 */
function giveToOwner(folder: string, change: (uid: number, gid: number) => void): void {
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() !== 0 || uid === 0) return;
  try {
    change(uid, gid);
  } catch (error) {
    // Root in a container may lack the right, or not know the user.
    if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The same for an SQLite file and the files that SQLite keeps beside it, which get their mode from it. */
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

/** Windows has no such modes: a folder in a user's profile belongs to that user. */
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
