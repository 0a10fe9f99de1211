import { readdirSync, rmSync, statSync } from 'node:fs';
import { constants, copyFile, rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import { checksumOf } from '../../../bulk/plan/files/plan-reader.js';
import type { RejectedValue, Rejects, RejectsPlace } from '../../../bulk/plan/files/rejects-file.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { masked } from '../../../output/mask.js';
import { makeFolder } from '../../../platform/make-folder.js';
import { counted, grouped } from '../../../text/wording.js';
import { maskCells } from '../mask-cells.js';

/** Milliseconds. Rejects files contain recipients, so they are not kept for ever. */
const maxAge = 90 * 86_400_000;

/** The folder of rejects files in the state directory, without the old ones. */
export function rejectsPlaceIn(stateDirectory: string, name: string, now: number): RejectsPlace {
  const folder = join(stateDirectory, 'rejects');
  makeFolder(folder);
  for (const each of readdirSync(folder)) {
    const path = join(folder, each);
    const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (age > maxAge) rmSync(path, { force: true });
  }
  return { folder, name: name.replace(/[^\p{L}\p{N}._-]/gu, '_').slice(0, 60) };
}

/** The most names to try: an earlier rejects file may have somebody's corrections, and is never replaced. */
const mostNames = 20;

/**
 * Moves a rejects file beside its list, as `list.rejected.csv` or, if that is taken, `list.rejected-2.csv`. Returns
 * its new path, or the old one if the list's folder is not writable.
 */
export async function moveBeside(list: string, rejects: string, taken: string | undefined): Promise<string> {
  const isFile = await stat(list).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) return rejects;
  const { dir, name } = parse(list);
  for (let count = 1; count <= mostNames; count += 1) {
    const beside = join(dir, `${name}.rejected${count === 1 ? '' : `-${count}`}.csv`);
    if (beside === taken) continue;
    const outcome = await copied(rejects, beside);
    if (outcome === 'impossible') return rejects;
    if (outcome === 'copied' || (await isSame(rejects, beside))) {
      await rm(rejects, { force: true });
      return beside;
    }
  }
  return rejects;
}

async function copied(from: string, to: string): Promise<'copied' | 'exists' | 'impossible'> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return 'copied';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'exists';
    return 'impossible';
  }
}

async function isSame(one: string, other: string): Promise<boolean> {
  try {
    const sizes = await Promise.all([one, other].map(async (path) => (await stat(path)).size));
    if (sizes[0] !== sizes[1]) return false;
    const [its, others] = await Promise.all([one, other].map(checksumOf));
    return its?.sha256 === others?.sha256;
  } catch {
    return false;
  }
}

/** Warns of rejected rows. Programs find them in the error object, if the command `fails`. */
export function warnOfRejects(
  { printer, attach, warn }: Context['io'],
  { count, first, rows, quoted, file }: Rejects,
  { toColumn, fails }: { toColumn: string; fails: boolean },
): void {
  if (count === 0) return;
  const { mask, isMachine } = printer;
  const shown = mask ? rows.map((row) => maskedRow(row, toColumn, quoted)) : rows;
  attach({ rejected: count, rejects_file: file, rows: shown });
  if (isMachine && fails) return;
  for (const line of first) warn(mask ? maskCells(line, quoted) : line);
  const more = count - first.length;
  if (more > 0) warn(`... and ${counted(more, 'more row')}, in ${file}`);
}

function maskedRow(
  { line, column, value, message }: RejectedValue,
  toColumn: string,
  quoted: readonly string[],
): RejectedValue {
  const hidden = value !== null && column === toColumn ? masked(value) : value;
  return { line, column, value: hidden, message: maskCells(message, quoted) };
}

/** Exit 8: rows are rejected, and `--skip-invalid` is not given. */
export function badRows({ meta, rejects }: PlanOutcome): CliError {
  const all = meta.rejected + meta.recipients + meta.merged + (meta.rest?.recipients ?? 0);
  const rows = `${grouped(meta.rejected)} of ${counted(all, 'row')} cannot be sent`;
  const [place, them] = meta.rejected === 1 ? ['It is', 'it'] : ['They are', 'them'];
  return new CliError('bad_rows', exits.input, `${rows}; nothing was sent`, {
    hint: `${place} in ${rejects.file}. Fix ${them}${meta.recipients > 0 ? ', or send the others with --skip-invalid' : ''}.`,
    details: { rejected: meta.rejected, rejects_file: rejects.file },
  });
}
