import { DataInUseError } from '../../../errors/data-error.js';
import { isBusy } from './busy.js';
import type { Database } from './database.js';

/**
 * Keeps every other process out of a file until its connection is closed; the first that this one does. Throws
 * DataInUseError where another has it open: an open connection has a lock on the file, even while it does nothing.
 */
export function lockAlone(database: Pick<Database, 'exec'>, path: string): void {
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    throw isBusy(error) ? inUse(path, error) : error;
  }
}

export const inUse = (path: string, cause: unknown) =>
  Object.assign(new DataInUseError(`another process has ${path} open`), { cause });
