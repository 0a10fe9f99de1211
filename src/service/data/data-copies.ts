import { asOwner, otherOwnerOf } from '../as-owner.js';
import { alignOutbox } from '../carriers/simulated/align-outbox.js';
import { openOutboxDatabase } from '../carriers/simulated/sqlite-outbox.js';
import type { Backup } from '../storage/sqlite/backup/backup.js';

import type { Moved, MoveOptions, MovePlaces } from './move/move-data.js';

export type { Backup, Moved };

const copies = { openCarrier: openOutboxDatabase, align: alignOutbox };

/** Backs up the data in `directory`, which may be in use, into the new folder `target`. Throws DataError. */
export async function backup(directory: string, target: string): Promise<Backup> {
  // Loaded late: a service does not need them.
  const { backupData } = await import('../storage/sqlite/backup/backup.js');
  const owner = otherOwnerOf(directory);
  if (owner === null) return backupData(directory, target, copies);
  const { backupOfOther } = await import('./copies-of-root.js');
  return backupOfOther(owner, directory, target, (made) => backupData(directory, made, copies));
}

/**
 * Restores a backup into `directory`; the service is then held. Returns the folder with the previous files. Throws
 * DataInUseError while a process has the data open.
 */
export async function restore(from: string, directory: string): Promise<string | null> {
  const { restoreData } = await import('../storage/sqlite/backup/restore.js');
  const owner = otherOwnerOf(directory);
  if (owner === null) return restoreData(from, directory, copies);
  const { restoreForOther } = await import('./copies-of-root.js');
  return restoreForOther(owner, from, directory, (backup) => restoreData(backup, directory, copies));
}

/** Throws DataInUseError while a process has the data in `directory` open. */
export async function checkFree(directory: string): Promise<void> {
  const restore = await import('../storage/sqlite/backup/restore.js');
  await asOwner(otherOwnerOf(directory), () => restore.checkFree(directory));
}

/** Moves the data in a folder to an empty database; see move/move-data.ts. */
export async function moveData(options: MoveOptions): Promise<Moved> {
  const move = await import('./move/move-data.js');
  return move.moveData(options);
}

/** Abandons a move; see move/move-data.ts. */
export async function abandonMove(places: MovePlaces): Promise<boolean> {
  const move = await import('./move/move-data.js');
  return move.abandonMove(places);
}
