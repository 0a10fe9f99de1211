import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DataError } from '../../../errors/data-error.js';
import { systemRandom } from '../../../random.js';
import { inUse, lockAlone } from '../database/alone.js';
import { isDamaged } from '../database/busy.js';
import { type Engine, loadEngine } from '../database/engine.js';
import { giveFolderToOwner } from '../database/private-files.js';
import { isOpenElsewhere, rename } from '../database/rename.js';
import { sizesOf } from '../installation/enter.js';
import {
  type DataFiles,
  filesOf,
  makeFolder,
  prepareFolder,
  restoring,
  sizeOf,
  syncFolder,
} from '../installation/folder.js';
import { writeIdentity } from '../installation/identity.js';
import { isMarked, replacingError } from '../installation/moves.js';
import { openInstallation } from '../installation/open.js';
import { type CarrierCopies, closeAlone, copyData, copyPrivately } from './copy-data.js';
import { damageOf } from './files-problem.js';
import { lockRestore } from './restore-lock.js';

/**
 * Replaces the data in a folder by a backup, or a copy of data; the folder is then held. Returns the folder inside it
 * with the previous files; null if there were none. Throws DataInUseError while any process has them open, and
 * DataError for an incomplete backup, and over data that is moved to a database; nothing was changed then.
 */
export async function restoreData(
  backup: string,
  directory: string,
  copies: CarrierCopies,
  renameFile = rename,
): Promise<string | null> {
  checkBackup(backup);
  prepareFolder(directory);
  if (realpathSync(backup) === realpathSync(directory)) {
    throw new DataError(`${backup} is the data folder itself`, {
      hint: 'Nothing was done. Name the folder of a backup.',
    });
  }
  const files = filesOf(directory);
  const name = new Date().toISOString().replace(/[^0-9]/g, '');
  const beside = join(directory, restoring + name);
  const release = await lockRestore(directory);
  try {
    const lock = await createLock(files);
    try {
      lock.take();
      makeFolderOfOwner(beside);
      await prepare(backup, beside, copies);
      // A service may have started meanwhile in a folder that was empty.
      lock.take();
      // Windows cannot rename an open file, so if another process has just opened one, none is renamed.
      if (process.platform === 'win32') lock.release();
      const kept = join(directory, `replaced-${name}`);
      const replaced = await replace(directory, filesOf(beside), kept, renameFile);
      for (const left of readdirSync(directory).filter((one) => one.startsWith(restoring)))
        rmSync(join(directory, left), { recursive: true, force: true });
      return replaced;
    } finally {
      lock.release();
      rmSync(beside, { recursive: true, force: true });
    }
  } finally {
    release();
  }
}

/** Throws DataError for a folder without a service.db. */
export function checkBackup(backup: string): void {
  if (sizeOf(filesOf(backup).store)) return;
  throw new DataError(`there is no backup in ${backup}`, {
    hint: 'It has a service.db. Nothing was done.',
  });
}

/** Throws as a restore into the folder would: DataInUseError while any process has the data open. */
export async function checkFree(directory: string): Promise<void> {
  const lock = await createLock(filesOf(directory));
  try {
    lock.take();
  } finally {
    lock.release();
  }
}

/** Copies the backup and opens it like a service, which verifies it. */
async function prepare(backup: string, beside: string, copies: CarrierCopies): Promise<void> {
  const files = filesOf(beside);
  try {
    await copyData(filesOf(backup), files, copies);
    const { store, carrier, guard } = await openInstallation(beside, systemRandom, copies);
    await guard?.finish();
    const damage = damageOf(store, 1)[0] ?? damageOf(carrier, 1)[0];
    if (damage !== undefined) throw new DataError(damage, { hint: '' });
    // Restored data gets a new identity, so that no earlier file can pass for one of its files.
    const id = randomUUID();
    for (const [database, path] of [
      [store, files.store],
      [carrier, files.carrier],
    ] as const) {
      database.prepare('UPDATE installation SET id = ?, epoch = 1').run(id);
      closeAlone(database, path);
    }
    await writeIdentity(files.identity, { id, epoch: 1, sizes: sizesOf(files) });
  } catch (error) {
    if (!isDamaged(error) && !(error instanceof DataError)) throw error;
    throw new DataError(`the backup in ${backup} cannot be restored: ${(error as Error).message}`, {
      hint: 'Nothing was changed. Take another backup.',
      cause: error,
    });
  }
}

/**
 * At every moment the folder has either a file other than service.db, or all files: a start in between, or after a
 * crash, is refused and creates nothing.
 */
async function replace(
  directory: string,
  made: DataFiles,
  kept: string,
  renameFile: typeof rename,
): Promise<string | null> {
  const files = filesOf(directory);
  const old = Object.values(files).filter((path) => existsSync(path));
  if (old.length > 0) makeFolderOfOwner(kept);
  const keptFiles = filesOf(kept);
  const moved: [from: string, to: string][] = [];
  /** The paths at which the replaced files were copied. */
  const copies = new Map<string, string>();
  const move = async (from: string, to: string): Promise<void> => {
    await renameFile(from, to);
    moved.push([from, to]);
  };
  try {
    // Copies first: a full disk stops it before anything was moved.
    for (const file of ['secret', 'identity'] as const) {
      if (!existsSync(files[file])) continue;
      copyPrivately(files[file], keptFiles[file]);
      copies.set(files[file], keptFiles[file]);
    }
    const hadSecret = existsSync(files.secret);
    if (!hadSecret) await move(made.secret, files.secret);
    for (const file of ['store', 'carrier', 'rates'] as const) {
      for (const suffix of ['', '-wal', '-shm']) {
        if (existsSync(files[file] + suffix)) await move(files[file] + suffix, keptFiles[file] + suffix);
      }
    }
    if (hadSecret) await move(made.secret, files.secret);
    for (const file of ['carrier', 'identity'] as const) await move(made[file], files[file]);
    syncFolder(directory);
    // From a service that started at this moment: a rename would silently replace it.
    if (existsSync(files.store)) throw inUse(files.store, null);
    await move(made.store, files.store);
  } catch (error) {
    for (const [from, to] of moved.reverse()) {
      await renameFile(to, from);
      const copy = copies.get(to);
      if (copy !== undefined) await renameFile(copy, to);
    }
    rmSync(kept, { recursive: true, force: true });
    throw isOpenElsewhere(error) ? inUse((error as NodeJS.ErrnoException).path ?? directory, error) : error;
  }
  syncFolder(directory);
  return old.length > 0 ? kept : null;
}

function makeFolderOfOwner(path: string): void {
  makeFolder(path);
  giveFolderToOwner(path);
}

/** Keeps all other processes out of the present files until it is released. */
async function createLock(files: DataFiles) {
  const { DatabaseSync } = await loadEngine();
  const locked = new Map<string, InstanceType<Engine['DatabaseSync']>>();
  return {
    take(): void {
      for (const path of [files.store, files.carrier]) {
        if (locked.has(path) || !existsSync(path)) continue;
        const database = new DatabaseSync(path, { timeout: 0 });
        locked.set(path, database);
        try {
          lockAlone(database, path);
          database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
          if (path === files.store && isMarked(database)) throw replacingError(database, files);
        } catch (error) {
          // Damaged: nobody can use it.
          if (!isDamaged(error)) throw error;
        }
      }
    },
    release(): void {
      for (const [path, database] of locked) {
        locked.delete(path);
        database.close();
      }
    },
  };
}
