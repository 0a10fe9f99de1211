import { DataInUseError } from '../../../errors/data-error.js';
import { isBusy } from './busy.js';
import type { Database } from './database.js';

/**
 * Keeps all other processes out of a file until its connection is closed; it must be this process's first. Throws
 * DataInUseError if another has the file open: an open connection has a lock on it, even while idle.
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
