import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { DataError } from './errors/data-error.js';

/** A user and its group. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * If this process is root, the user whose rights open a folder: the last user other than root who owns a part of its
 * path, even above a folder of root, which that user could replace; null if root owns all of it.
 */
export function otherOwnerOf(folder: string): Owner | null {
  if (process.getuid?.() !== 0) return null;
  let owner: Owner | null = null;
  for (const { stats } of wayTo(folder)) if (stats.uid !== 0) owner = { uid: stats.uid, gid: stats.gid };
  return owner;
}

/** As many links as Linux follows. */
const mostLinks = 40;

/** Every folder and link on the way to a path, from the top, as far as it exists. */
export function* wayTo(path: string): Generator<{ path: string; stats: Stats }> {
  const names = resolve(path).split(sep);
  let at: string = sep;
  for (let links = 0; names.length > 0 && links <= mostLinks; ) {
    const next = join(at, names.shift() as string);
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) return;
    yield { path: next, stats };
    if (stats.isSymbolicLink()) {
      links += 1;
      names.unshift(...resolve(at, readlinkSync(next)).split(sep));
      at = sep;
    } else at = next;
  }
}

/** How many are at work with the rights of another user. */
let depth = 0;
let beRoot = () => {};

/**
 * Opens files with the rights of another user until the returned function is called: its folder may have links to files
 * that only root can open or change. The user cannot signal or trace the process, which stays root's. Throws DataError
 * where root has lost the right.
 */
export function actAs({ uid, gid }: Owner): () => void {
  const { setgroups, setegid, seteuid, getgroups } = process;
  if (!setgroups || !setegid || !seteuid || !getgroups) return () => {};
  if (depth === 0) {
    const groups = getgroups();
    beRoot = () => {};
    try {
      setgroups([gid]);
      beRoot = () => {
        seteuid(0);
        setegid(0);
        setgroups(groups);
      };
      setegid(gid);
      seteuid(uid);
    } catch (error) {
      beRoot();
      // Root in a container may lack the right, or not know the user, and yet open every file.
      if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw new DataError(
        `the data belongs to the user ${uid}, and root cannot take that user's rights here`,
        {
          hint: 'Nothing was done. Run the command as that user.',
          cause: error,
        },
      );
    }
  }
  depth += 1;
  let isBack = false;
  return () => {
    if (isBack) return;
    isBack = true;
    depth -= 1;
    if (depth === 0) beRoot();
  };
}

/** The same of work that is done when it returns. */
export function asOwnerNow<Result>(owner: Owner | null, work: () => Result): Result {
  const back = owner === null ? () => {} : actAs(owner);
  try {
    return work();
  } finally {
    back();
  }
}

/** Does the work with the rights of another user; of this process without one. */
export async function asOwner<Result>(
  owner: Owner | null,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const back = owner === null ? () => {} : actAs(owner);
  try {
    return await work();
  } finally {
    back();
  }
}
