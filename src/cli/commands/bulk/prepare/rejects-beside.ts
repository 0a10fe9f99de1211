import { createReadStream } from 'node:fs';
import { constants, copyFile, rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';

/** The most names to try: an earlier rejects file may have somebody's corrections, and is never replaced. */
const mostNames = 20;

/**
 * Moves a rejects file beside its list, as `list.rejected.csv` or, if that is taken, `list.rejected-2.csv`. Returns
 * its new path, or the old one if the list's folder is not writable.
 */
export async function moveBeside(list: string, rejects: string, taken: string | undefined): Promise<string> {
  const isFile = await stat(list).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) return rejects;
  const { dir, name } = parse(list);
  for (let count = 1; count <= mostNames; count += 1) {
    const beside = join(dir, `${name}.rejected${count === 1 ? '' : `-${count}`}.csv`);
    if (beside === taken) continue;
    const outcome = await copied(rejects, beside);
    if (outcome === 'impossible') return rejects;
    if (outcome === 'copied' || (await isSame(rejects, beside))) {
      await rm(rejects, { force: true });
      return beside;
    }
  }
  return rejects;
}

async function copied(from: string, to: string): Promise<'copied' | 'exists' | 'impossible'> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return 'copied';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'exists';
    return 'impossible';
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  try {
    const sizes = await Promise.all([one, other].map(async (path) => (await stat(path)).size));
    if (sizes[0] !== sizes[1]) return false;
    const others = createReadStream(other)[Symbol.asyncIterator]();
    for await (const part of createReadStream(one)) {
      const { value } = await others.next();
      if (!(value instanceof Buffer) || !value.equals(part)) return false;
    }
    return true;
  } catch {
    return false;
  }
}
