import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { usageError } from '../../errors.js';
import type { BulkOptions } from './options.js';

const hint = 'Name another file.';

/** Throws CliError (exit 2) where `--rejects` would replace the list or be replaced by the report. */
export function refuseSameFile(
  here: { readonly cwd: string },
  list: string,
  { report, rejects }: Pick<BulkOptions, 'report' | 'rejects'>,
): void {
  const identity = rejects === undefined ? null : identityOf(here, rejects);
  if (identity === null) return;
  if (list !== '-' && identityOf(here, list) === identity)
    throw usageError('--rejects names the list itself and would overwrite it', hint);
  if (report !== undefined && identityOf(here, report) === identity)
    throw usageError('--report and --rejects name the same file', hint);
}

/** The same string for every name of a regular file, which may not exist yet; null for anything else. */
function identityOf(here: { readonly cwd: string }, name: string): string | null {
  // The current folder may have been deleted: `cwd` is read only for relative names.
  const path = isAbsolute(name) ? name : resolve(here.cwd, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.isFile() ? `${stats.dev}:${stats.ino}` : null;
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
