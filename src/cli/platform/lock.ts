import type { Lock, LockHolder } from './lock-types.js';
import { platformOf } from './platform.js';

/**
 * One process for each job: the lock lasts until the process releases it or ends. Only this machine sees it;
 * idempotency keys prevent a second send.
 */
export async function lockFolder(folder: string, platform = process.platform): Promise<Lock> {
  return (await locksOf(platform)).lockFolder(folder);
}

/** The process that holds a folder's lock; null if none does. */
export async function lockHolder(folder: string, platform = process.platform): Promise<LockHolder | null> {
  return (await locksOf(platform)).lockHolder(folder);
}

const locksOf = (platform: NodeJS.Platform) =>
  platformOf(platform).lock === 'socket' ? import('./socket-lock.js') : import('./file-lock.js');
