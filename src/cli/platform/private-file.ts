import { exposureToOthers, type FileOwner } from '../../contract/index.js';
import { platformOf } from './platform.js';

/** Why a file or folder is not private; null if it is. */
export type Exposure = 'owned by another user' | 'writable by others' | 'readable by others' | null;

/** `user`: the uid of this process. Files of root are safe too, because root can do everything anyway. */
export function exposureOf(file: FileOwner, user: number, platform: NodeJS.Platform): Exposure {
  if (!platformOf(platform).hasFileModes) return null;
  if (file.uid !== user && file.uid !== 0) return 'owned by another user';
  const exposure = exposureToOthers(file);
  return exposure === null ? null : `${exposure} by others`;
}
