import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { usageError } from '../../errors.js';
import type { BulkOptions } from './options.js';

const hint = 'Name another file.';

/** Rejects that take the place of the list would lose its good rows; a report in theirs has those sent already. */
export function refuseSameFile(
  here: { readonly cwd: string },
  list: string,
  { report, rejects }: Pick<BulkOptions, 'report' | 'rejects'>,
): void {
  const place = rejects === undefined ? null : placeOf(here, rejects);
  if (place === null) return;
  if (list !== '-' && placeOf(here, list) === place)
    throw usageError('--rejects is the list itself, which would lose its good rows', hint);
  if (report !== undefined && placeOf(here, report) === place)
    throw usageError('--report is the file of --rejects: one of the two would be lost', hint);
}

/** One name of a regular file, whatever it is called and whether it is there yet; null for anything else. */
function placeOf(here: { readonly cwd: string }, name: string): string | null {
  // The current folder may be gone, and is asked for only where it matters.
  const path = isAbsolute(name) ? name : resolve(here.cwd, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.isFile() ? `${stats.dev}:${stats.ino}` : null;
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
