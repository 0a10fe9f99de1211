import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A user and its group. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * The owner of a folder, or of the one above that a new folder is made in, if this process is root and it belongs to
 * another user; else null.
 */
export function otherOwnerOf(folder: string): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return dirname(folder) === folder ? null : otherOwnerOf(dirname(folder));
  return stats.uid === 0 ? null : { uid: stats.uid, gid: stats.gid };
}

/** How many are at work with the rights of another user. */
let depth = 0;
let beRoot = () => {};

/**
 * Opens files with the rights of another user until the returned function is called: its folder may have links to files
 * that only root can open or change. The user cannot signal or trace the process, which stays root's.
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
      // Root in a container may lack the right, or not know the user: it has no rights that the user lacks.
      if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return () => {};
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
