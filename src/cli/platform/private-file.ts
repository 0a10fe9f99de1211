import { platformOf } from './platform.js';

export interface FileOwner {
  readonly uid: number;
  readonly mode: number;
}

/** Why a file or folder is not private; null if it is. */
export type Exposure = 'owned by another user' | 'writable by others' | 'readable by others' | null;

/** `user`: the uid of this process. Files of root are safe too, because root can do everything anyway. */
export function exposureOf({ uid, mode }: FileOwner, user: number, platform: NodeJS.Platform): Exposure {
  if (!platformOf(platform).hasFileModes) return null;
  if (uid !== user && uid !== 0) return 'owned by another user';
  if ((mode & 0o022) !== 0) return 'writable by others';
  return (mode & 0o044) !== 0 ? 'readable by others' : null;
}
