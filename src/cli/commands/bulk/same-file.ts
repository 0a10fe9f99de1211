import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { PlanMeta } from '../../bulk/plan/plan.js';
import { usageError } from '../../errors.js';
import { isWorkbookName } from '../../xlsx/report-workbook.js';
import type { BulkOptions } from './options.js';

const hint = 'Name another file.';
const overwrites = (option: string, what: string) =>
  usageError(`${option} names ${what} and would overwrite it`, hint);

interface Folder {
  readonly cwd: string;
}

/**
 * Throws CliError (exit 2) if `--report` or `--rejects` would replace a file that the job reads, or each other, or if
 * `--rejects`, which is CSV, has the name of a workbook. With `--only`, a report in
 * place of the list would lose the rows that were not selected.
 */
export function refuseSameFile(
  here: Folder,
  list: string,
  options: Pick<BulkOptions, 'report' | 'rejects' | 'textFile' | 'htmlFile' | 'exclude'>,
): void {
  const { report, rejects, textFile, htmlFile, exclude } = options;
  if (rejects !== undefined && isWorkbookName(rejects))
    throw usageError(
      `${rejects} would not be a workbook: rejected rows are written as CSV`,
      'Name a .csv file.',
    );
  const fileOf = (name: string | undefined) =>
    name === undefined || name === '-' ? null : identityOf(here, name);
  const sources = [
    ['the list itself', list],
    ['the file of --text-file', textFile],
    ['the file of --html-file', htmlFile],
    ['the file of --exclude', exclude],
  ] as const;
  const [reported, rejected] = [fileOf(report), fileOf(rejects)];
  for (const [option, file] of Object.entries({ '--report': reported, '--rejects': rejected })) {
    const source = file !== null && sources.find(([, name]) => fileOf(name) === file);
    if (source) throw overwrites(option, source[0]);
  }
  if (reported !== null && reported === rejected)
    throw usageError('--report and --rejects name the same file', hint);
}

/** Throws CliError (exit 2) if a job's report would replace the list that the job was made from. */
export function refuseList(
  here: Folder,
  { path, source }: Pick<PlanMeta, 'path' | 'source'>,
  report: string | undefined,
): void {
  if (report === undefined || source === '-') return;
  const list = identityOf(here, path ?? source);
  if (list !== null && list === identityOf(here, report))
    throw overwrites('--report', 'the list of this job');
}

/** `cwd` is read only for relative names, because the current folder may have been deleted. */
export const absolutePath = (here: Folder, name: string): string =>
  isAbsolute(name) ? name : resolve(here.cwd, name);

/** The same string for every name of a regular file, which need not exist yet; null for anything else. */
function identityOf(here: Folder, name: string): string | null {
  const path = absolutePath(here, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.isFile() ? `${stats.dev}:${stats.ino}` : null;
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
