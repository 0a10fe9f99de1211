import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DataInUseError } from '../../../errors/data-error.js';
import { isBusy } from '../database/busy.js';
import { loadEngine } from '../database/engine.js';

/**
 * Keeps other restores out of a folder, even an empty one without a file to lock. It ends with its process. Returns a
 * function that releases it; throws DataInUseError while another restore holds it.
 */
export async function lockRestore(directory: string): Promise<() => void> {
  const { DatabaseSync } = await loadEngine();
  const path = join(directory, 'restore.lock');
  closeSync(openSync(path, 'a', 0o600));
  const made = inodeOf(path);
  // Two that try at the same moment would each find the other's.
  const database = new DatabaseSync(path, { timeout: 1_000 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    // The previous restore removed the file: another one may have created and locked a new one since.
    if (made === null || inodeOf(path) !== made) throw restored(directory);
  } catch (error) {
    database.close();
    // The engine fails in its own way if the file was removed.
    throw isBusy(error) || inodeOf(path) !== made ? restored(directory) : error;
  }
  return () => {
    // Removed before it is unlocked: afterwards it may belong to the next restore.
    if (process.platform !== 'win32') rmSync(path, { force: true });
    database.exec('ROLLBACK');
    database.close();
    if (process.platform === 'win32') removeUnused(path);
  };
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

const restored = (directory: string) => new DataInUseError(`another restore into ${directory} is under way`);
