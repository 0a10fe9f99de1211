import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DataInUseError } from '../../../errors/data-error.js';
import { isBusy } from '../database/busy.js';
import { type Engine, loadEngine } from '../database/engine.js';

/**
 * Keeps other restores out of a folder, even an empty one without a file to lock. It ends with its process. Returns a
 * function that releases it; throws DataInUseError while another restore holds it.
 */
export async function lockRestore(
  directory: string,
  engine?: Pick<Engine, 'DatabaseSync'>,
): Promise<() => void> {
  const { DatabaseSync } = engine ?? (await loadEngine());
  const path = join(directory, 'restore.lock');
  let database = lockFile(DatabaseSync, path);
  // The restore before may remove its file at any moment. A file that is made then is nobody's: it must not be left.
  while (database === 'removed') database = lockFile(DatabaseSync, path);
  if (database === 'held') throw new DataInUseError(`another restore into ${directory} is under way`);
  const lock = database;
  return () => {
    // Removed before it is unlocked: afterwards it may belong to the next restore.
    if (process.platform !== 'win32') rmSync(path, { force: true });
    lock.exec('ROLLBACK');
    lock.close();
    if (process.platform === 'win32') removeUnused(path);
  };
}

function lockFile(
  DatabaseSync: Engine['DatabaseSync'],
  path: string,
): InstanceType<Engine['DatabaseSync']> | 'held' | 'removed' {
  closeSync(openSync(path, 'a', 0o600));
  const made = inodeOf(path);
  // Two that try at the same moment would each find the other's.
  const database = new DatabaseSync(path, { timeout: 1_000 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    if (made !== null && inodeOf(path) === made) return database;
    database.close();
    return 'removed';
  } catch (error) {
    database.close();
    if (isBusy(error)) return 'held';
    // The engine fails in its own way if the file was removed.
    if (inodeOf(path) !== made) return 'removed';
    throw error;
  }
}

/** Windows cannot remove an open file: another restore is using it. */
function removeUnused(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its holder removes it.
  }
}

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino ?? null;
