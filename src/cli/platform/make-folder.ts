import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a private folder and its missing parents. Node.js's `recursive` never returns if the system answers ENOENT
 * to creating a folder inside an existing one, as /proc and automounters do.
 */
export function makeFolder(path: string): void {
  if (made(path)) return;
  makeFolder(dirname(path));
  if (!made(path)) mkdirSync(path, { mode: 0o700 });
}

/** False if the parent is missing too. */
function made(path: string): boolean {
  // Checking first is faster than the error for an existing folder.
  if (existsSync(path)) return true;
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
