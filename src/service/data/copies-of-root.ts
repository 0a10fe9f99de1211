import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { asOwner, type Owner, otherOwnerOf, wayTo } from '../as-owner.js';
import { DataError } from '../errors/data-error.js';
import { checkBackup } from '../storage/sqlite/backup/restore.js';
import {
  filesOf,
  makeFolder,
  prepareFolder,
  syncFolder,
  writableByOthers,
} from '../storage/sqlite/installation/folder.js';

/**
 * A backup that root makes of another user's data: that user makes it in a folder of their own. Elsewhere, where that user
 * need not be able to write, they make it beside the data, and root copies what they can read.
 */
export async function backupOfOther<Made>(
  owner: Owner,
  directory: string,
  target: string,
  make: (target: string) => Promise<Made>,
): Promise<Made> {
  const above = dirname(target);
  if (otherOwnerOf(above)?.uid === owner.uid) return asOwner(owner, () => make(target));
  checkOfRoot(above);
  if (existsSync(target))
    throw new DataError(`${target} is there already`, { hint: 'Name a new folder for each backup.' });
  if (!existsSync(above)) prepareFolder(above);
  const made = `${target}.new-${process.pid}`;
  return besideData(owner, directory, async (beside) => {
    const copy = join(beside, 'backup');
    const backup = await asOwner(owner, () => make(copy));
    makeFolder(made);
    try {
      await copyFiles(copy, made, owner, null);
      syncFolder(made);
      renameSync(made, target);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      throw error;
    }
    syncFolder(above);
    return backup;
  });
}

/** The name of a folder of copies in the data folder, with the process that makes them. */
const ofCopies = /^copying-for-root-(\d+)$/;

/** Works with a new folder of the owner beside the data. Removes it, and those of processes that were killed. */
async function besideData<Result>(
  owner: Owner,
  directory: string,
  work: (beside: string) => Promise<Result>,
): Promise<Result> {
  const beside = join(directory, `copying-for-root-${process.pid}`);
  await asOwner(owner, () => {
    for (const name of readdirSync(directory)) {
      const [, maker] = ofCopies.exec(name) ?? [];
      if (maker !== undefined && !isAtWork(Number(maker)))
        rmSync(join(directory, name), { recursive: true, force: true });
    }
    makeFolder(beside);
  });
  try {
    return await work(beside);
  } finally {
    await asOwner(owner, () => rmSync(beside, { recursive: true, force: true }));
  }
}

/** Another process; what this one left under its number is of an earlier one. */
function isAtWork(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Of a folder in which everybody may rename and remove their own files only, such as /tmp. */
const sticky = 0o1000;

/** Throws DataError unless root alone can change a folder, and what leads to it: others could put a link in its place. */
function checkOfRoot(folder: string): void {
  for (const { path, stats } of wayTo(folder)) {
    const isShared =
      !stats.isSymbolicLink() && (stats.mode & writableByOthers) !== 0 && (stats.mode & sticky) === 0;
    if (stats.uid === 0 && !isShared) continue;
    const why = isShared ? 'is writable by others' : `belongs to user ${stats.uid}`;
    throw new DataError(`${folder} can be changed by users other than root: ${path} ${why}`, {
      hint: "Nothing was done. Keep another user's backups in a folder that only root can change, such as /var/backups, or in that user's own.",
    });
  }
}

/** A restore by root into another user's folder: that user's rights restore a copy of the backup. */
export async function restoreForOther<Restored>(
  owner: Owner,
  backup: string,
  directory: string,
  restore: (backup: string) => Promise<Restored>,
): Promise<Restored> {
  const other = otherOwnerOf(backup);
  if (other?.uid === owner.uid) return asOwner(owner, () => restore(backup));
  if (other === null) checkOfRoot(backup);
  await asOwner(other, () => checkBackup(backup));
  await asOwner(owner, () => prepareFolder(directory));
  return besideData(owner, directory, async (copy) => {
    try {
      await copyFiles(backup, copy, other, owner);
      return await asOwner(owner, () => restore(copy));
    } catch (error) {
      if (error instanceof Error) error.message = error.message.replaceAll(copy, backup);
      throw error;
    }
  });
}

/** `reader` opens the files, and `writer` the copies; null for root. */
async function copyFiles(
  from: string,
  to: string,
  reader: Owner | null,
  writer: Owner | null,
): Promise<void> {
  const files = filesOf(from);
  const copies = filesOf(to);
  for (const file of ['store', 'carrier', 'secret', 'identity'] as const)
    for (const suffix of file === 'store' || file === 'carrier' ? ['', '-wal'] : [''])
      await copyFile(files[file] + suffix, copies[file] + suffix, reader, writer);
}

async function copyFile(from: string, to: string, reader: Owner | null, writer: Owner | null): Promise<void> {
  const source = await asOwner(reader, () => openThere(from));
  if (source === null) return;
  try {
    const copy = await asOwner(writer, () => openSync(to, 'wx', 0o600));
    try {
      const block = Buffer.alloc(1_048_576);
      for (let length = readSync(source, block); length > 0; length = readSync(source, block))
        for (let at = 0; at < length; ) at += writeSync(copy, block, at, length - at);
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(source);
  }
}

/** Null if there is no such file. A pipe does not hold it up. */
function openThere(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
