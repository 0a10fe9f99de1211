import { open } from 'node:fs/promises';
import { platformOf } from './platform.js';
import { syncFile } from './sync-file.js';

/** Errors of file systems that cannot sync folders. */
const notOffered: readonly string[] = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export const isNotOffered = (error: unknown): boolean =>
  notOffered.includes((error as NodeJS.ErrnoException).code ?? '');

/** Makes the names in a folder durable. */
export async function syncFolder(
  path: string,
  platform = process.platform,
  openFolder = open,
  sync = syncFile,
): Promise<void> {
  if (!platformOf(platform).syncsFolders) return;
  const folder = await openFolder(path, 'r');
  try {
    await sync(folder);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
  } finally {
    await folder.close();
  }
}
