import { join } from 'node:path';
import { byteOrderMark, csvLine } from '../../csv/line.js';
import { describe, sheetName } from '../input/input-error.js';
import { keptColumns } from '../input/report-columns.js';
import { columnLetters } from '../input/workbook/cell-value.js';
import { BlockFile } from './buffered-file.js';
import type { FrozenPlan } from './plan.js';
import type { Disk } from './plan-disk.js';
import type { RowError } from './plan-format.js';
import { readErrors } from './plan-reader.js';

/** One thing that is wrong with a row, for programs. */
export interface RejectedValue {
  line: number;
  /** Column of the input, or what part of the message it is about. */
  column: string;
  /** What stands there; null where the column is none of the input's. */
  value: string | null;
  message: string;
}

export interface Rejects {
  /** Rows that cannot be sent. */
  count: number;
  /** `file:line: column: what is wrong` of the first of them. */
  first: string[];
  /** The same, taken apart. */
  rows: RejectedValue[];
  /** The CSV file with all of them: the input's own columns, `line` and `error`; null when there are none. */
  file: string | null;
}

/** A folder for rejects files, and how the name of this one begins. */
export interface RejectsPlace {
  folder: string;
  name: string;
}

const shownRejects = 100;
const shownCharacters = 200;
const added = ['line', 'error'];

/**
 * Writes the rows that were left out to a file, beside first and then in its place. At a place that inputs share
 * its name ends in a hash of what it holds, so that no other input's rejects are ever written over.
 */
export async function writeRejects(
  plan: FrozenPlan,
  place: RejectsPlace | null,
  disk: Disk,
): Promise<Rejects> {
  const { columns } = plan.meta;
  const beside = join(plan.folder, 'rejects.part');
  disk.remove(beside);
  const file = new BlockFile(disk, beside, { sealed: true });
  const rejects: Rejects = { count: 0, first: [], rows: [], file: null };
  const kept = keptColumns(columns, added);
  const errors = readErrors(join(plan.folder, 'errors'));
  let sha256: string;
  try {
    if (plan.input?.marked) file.appendText(byteOrderMark);
    file.appendText(csvLine([...kept.map((index) => columns[index] ?? ''), ...added]));
    let next = await errors.next();
    for await (const { line, values, error } of plan.rows()) {
      if (error === null) continue;
      // A row in conflict with an earlier one has no entry there.
      const entries = next.value?.[0]?.line === line ? next.value : [];
      if (entries.length > 0) next = await errors.next();
      if (rejects.count < shownRejects) {
        rejects.first.push(placed(plan, line, entries, error));
        rejects.rows.push(...rejectedValues(plan, line, values, entries, error).slice(0, shownRejects));
      }
      rejects.count += 1;
      const extra = values.slice(columns.length);
      file.appendText(csvLine([...kept.map((index) => values[index] ?? ''), ...extra, String(line), error]));
    }
    sha256 = file.seal().sha256;
  } catch (error) {
    file.close();
    throw error;
  } finally {
    await errors.return();
  }
  rejects.file = join(
    place?.folder ?? plan.folder,
    place === null ? 'rejects.csv' : `${place.name}-${sha256.slice(0, 12)}.csv`,
  );
  disk.rename(beside, rejects.file);
  return rejects;
}

/** `list.csv:7: what is wrong`, or `list.xlsx!Sheet1:B7: what is wrong` by the first cell that it is about. */
function placed(
  { meta: { columns, source }, input }: FrozenPlan,
  line: number,
  entries: readonly RowError[],
  error: string,
): string {
  if (input?.sheet === undefined) return describe(source, error, { line });
  const { name, columns: ofSheet } = input.sheet;
  const field = entries[0] === undefined ? input.recipient : columns.indexOf(entries[0].column);
  const column = ofSheet[field ?? -1];
  const cell = column === undefined ? undefined : columnLetters(column) + line;
  return describe(sheetName(source, name), error, { line, cell });
}

function rejectedValues(
  { meta: { columns }, input }: FrozenPlan,
  line: number,
  values: readonly string[],
  entries: readonly RowError[],
  error: string,
): RejectedValue[] {
  const recipient = columns[input?.recipient ?? -1] ?? '';
  const told = entries.length > 0 ? entries : [{ column: recipient, error }];
  return told.map(({ column, error: message }) => {
    const index = columns.indexOf(column);
    const value = index === -1 ? null : (values[index] ?? '');
    return { line, column, value: value === null ? null : cut(value), message };
  });
}

const cut = (value: string) =>
  value.length > shownCharacters ? `${value.slice(0, shownCharacters)}...` : value;
