import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a private folder, and those above it that are missing. The `recursive` of Node.js never returns where the
 * system answers ENOENT to making a folder in one that is there, as /proc and automounters do.
 */
export function makeFolder(path: string): void {
  if (made(path)) return;
  makeFolder(dirname(path));
  if (!made(path)) mkdirSync(path, { mode: 0o700 });
}

/** False when the folder above is missing, too. */
function made(path: string): boolean {
  // A look costs less than the error of a folder that is there.
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
