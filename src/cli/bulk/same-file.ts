import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError } from '../errors.js';
import type { BulkOptions } from './options.js';

const hint = 'Nothing was sent. Name another file.';

/** A report that takes the place of rows which are still needed would lose them, or mix them with others. */
export function refuseReportOver(cwd: string, list: string, { report, rejects, only }: BulkOptions): void {
  if (report === undefined) return;
  const place = placeOf(cwd, report);
  if (place === null) return;
  if (rejects !== undefined && placeOf(cwd, rejects) === place)
    throw usageError('--report is the file of --rejects', hint);
  if (only !== undefined && list !== '-' && placeOf(cwd, list) === place)
    throw usageError('--report is the list itself, which would lose the rows that --only leaves out', hint);
}

/** One name of a regular file, whatever it is called and whether it is there yet; null for anything else. */
function placeOf(cwd: string, name: string): string | null {
  const path = resolve(cwd, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.isFile() ? `${stats.dev}:${stats.ino}` : null;
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
