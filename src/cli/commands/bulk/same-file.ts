import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { usageError } from '../../errors.js';
import type { BulkOptions } from './options.js';

const hint = 'Name another file.';

/** Throws CliError (exit 2) where `--report` or `--rejects` would replace a file that the job reads, or each other. */
export function refuseSameFile(
  here: { readonly cwd: string },
  list: string,
  options: Pick<BulkOptions, 'report' | 'rejects' | 'textFile' | 'htmlFile' | 'only'>,
): void {
  const { report, rejects, textFile, htmlFile, only } = options;
  const identified = (name: string | undefined) =>
    name === undefined || name === '-' ? null : identityOf(here, name);
  const sources = [
    { what: 'the list itself', file: identified(list) },
    { what: 'the file of --text-file', file: identified(textFile) },
    { what: 'the file of --html-file', file: identified(htmlFile) },
  ];
  const targets = [
    { option: '--report', file: identified(report) },
    { option: '--rejects', file: identified(rejects) },
  ].filter(({ file }) => file !== null);
  for (const { option, file } of targets) {
    const source = sources.find((each) => each.file === file);
    // The rows of a report go on with --only: the newest report may take its place.
    if (option === '--report' && only !== undefined && source === sources[0]) continue;
    if (source !== undefined) throw usageError(`${option} names ${source.what} and would overwrite it`, hint);
  }
  if (targets.length === 2 && targets[0]?.file === targets[1]?.file)
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
