import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RejectedValue, Rejects, RejectsPlace } from '../../bulk/plan/rejects-file.js';
import { makeFolder } from '../../config/make-folder.js';
import type { Context } from '../../context.js';
import { masked, maskedError } from '../../output/mask.js';
import { counted } from '../../wording.js';

/** Rejects files hold recipients, so they are not kept for ever. */
const keptFor = 90 * 86_400_000;

/** The folder beside the jobs where rejects files are kept, each under the name of its job or input. */
export function rejectsPlaceIn(stateDirectory: string, name: string, now: number): RejectsPlace {
  const folder = join(stateDirectory, 'rejects');
  makeFolder(folder);
  for (const each of readdirSync(folder)) {
    const path = join(folder, each);
    const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (age > keptFor) rmSync(path, { force: true });
  }
  return { folder, name: name.replace(/[^\p{L}\p{N}._-]/gu, '_').slice(0, 60) };
}

/** Tells a person which rows are left out, and keeps them for the error object of a program. */
export function tellRejects(context: Context, { count, first, rows, file }: Rejects, toColumn: string): void {
  if (count === 0) return;
  const { mask, isMachine } = context.io.printer;
  const shown = mask ? rows.map((row) => maskedRow(row, toColumn)) : rows;
  context.io.attach({ rejected: count, rejects_file: file, rows: shown });
  if (isMachine) return;
  for (const line of first) context.io.warn(mask ? maskedError(line) : line);
  const more = count - first.length;
  if (more > 0) context.io.warn(`... and ${counted(more, 'more row')}, in ${file}`);
}

function maskedRow({ line, column, value, message }: RejectedValue, toColumn: string): RejectedValue {
  const hidden = value !== null && column === toColumn ? masked(value) : value;
  return { line, column, value: hidden, message: maskedError(message) };
}
