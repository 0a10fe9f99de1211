import type { Lock, LockHolder } from './lock-types.js';
import { platformOf } from './platform.js';

/**
 * One process per job: it holds the lock of the job's folder until it releases it or ends, however that is. It is
 * a courtesy (another machine does not see it); the idempotency keys are the safety.
 */
export async function lockFolder(folder: string, platform = process.platform): Promise<Lock> {
  return (await locksOf(platform)).lockFolder(folder);
}

/** The process that holds the lock of a folder; null when none does. Takes nothing. */
export async function lockHolder(folder: string, platform = process.platform): Promise<LockHolder | null> {
  return (await locksOf(platform)).lockHolder(folder);
}

const locksOf = (platform: NodeJS.Platform) =>
  platformOf(platform).lock === 'socket' ? import('./socket-lock.js') : import('./file-lock.js');
