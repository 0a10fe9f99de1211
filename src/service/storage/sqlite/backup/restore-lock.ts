import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DataInUseError } from '../../../errors/data-error.js';
import { isBusy } from '../database/busy.js';
import { loadEngine } from '../database/engine.js';

/**
 * Keeps other restores out of a folder, an empty one too, which has no file of its own to lock. It ends with its process.
 * Returns what releases it; throws DataInUseError while another restore has it.
 */
export async function lockRestore(directory: string): Promise<() => void> {
  const { DatabaseSync } = await loadEngine();
  const path = join(directory, 'restore.lock');
  closeSync(openSync(path, 'a', 0o600));
  const made = inodeOf(path);
  // Of two that try at one moment each would find the other's.
  const database = new DatabaseSync(path, { timeout: 1_000 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    // The restore before this one took the file away: another may have made and locked a new one since.
    if (made === null || inodeOf(path) !== made) throw restored(directory);
  } catch (error) {
    database.close();
    // The engine fails in its own way where the file was taken away.
    throw isBusy(error) || inodeOf(path) !== made ? restored(directory) : error;
  }
  return () => {
    // Before it is unlocked: afterwards it may be that of the next.
    if (process.platform !== 'win32') rmSync(path, { force: true });
    database.exec('ROLLBACK');
    database.close();
    if (process.platform === 'win32') removeUnused(path);
  };
}

/** Windows removes no file that is open: another restore has it then. */
function removeUnused(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its holder removes it.
  }
}

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino ?? null;

const restored = (directory: string) => new DataInUseError(`another restore into ${directory} is under way`);
