import { join } from 'node:path';
import { byteOrderMark, csvLine } from '../../../../contract/csv.js';
import { columnLetters } from '../../../xlsx/cell-reference.js';
import { located, quoted, sheetName } from '../../input/input-error.js';
import { addedNames, isReport, keptColumns, ownColumns, rejectsColumns } from '../../input/report-columns.js';
import type { FrozenPlan } from '../plan.js';
import { BufferedFile } from './buffered-file.js';
import type { PlanDisk } from './plan-disk.js';
import type { RowError } from './plan-format.js';
import { readErrors } from './plan-reader.js';

/** An error in a row, for programs. */
export interface RejectedValue {
  line: number;
  /** Column of the input, or an option of the message. */
  column: string;
  /** Null for an option. */
  value: string | null;
  message: string;
}

export interface Rejects {
  /** The number of rejected rows. */
  count: number;
  /** `file:line: column: error` for the first 100. */
  first: string[];
  /** The errors of the first 100, as fields. */
  rows: RejectedValue[];
  /** The cells quoted in these errors. */
  quoted: string[];
  /** The CSV file with all of them, with the input's columns, `line` and `error`; null if there are none. */
  file: string | null;
}

/** The rejects file's folder, and the beginning of its name. */
export interface RejectsPlace {
  folder: string;
  name: string;
}

const shownRejects = 100;
const shownCharacters = 200;

/**
 * Writes the rejected rows to a file in the plan's folder, then moves it to its place. In a shared folder, its name
 * ends with a hash of its contents, so it never replaces the rejects of another input.
 */
export async function writeRejects(
  plan: FrozenPlan,
  place: RejectsPlace | null,
  disk: PlanDisk,
): Promise<Rejects> {
  const { columns } = plan.meta;
  const beside = join(plan.folder, 'rejects.part');
  disk.remove(beside);
  const file = new BufferedFile(disk, beside, { checksummed: true });
  const rejects: Rejects = { count: 0, first: [], rows: [], quoted: [], file: null };
  // A report names the line in its job's list, by which that job knows the row again.
  const own = ownColumns(columns);
  const hasLine = isReport(own) && own.has('line');
  const added = hasLine ? ['error'] : rejectsColumns;
  const kept = await keptColumns(plan, added);
  const names = kept.map((index) => columns[index] ?? '');
  const errors = readErrors(join(plan.folder, 'errors'));
  let sha256: string;
  try {
    if (plan.input?.marked) file.appendText(byteOrderMark);
    file.appendText(csvLine([...names, ...addedNames(added, names)]));
    let next = await errors.next();
    for await (const { line, values, error } of plan.rows()) {
      if (error === null) continue;
      // A row that conflicts with an earlier one has no entry.
      const entries = next.value?.[0]?.line === line ? next.value : [];
      if (entries.length > 0) next = await errors.next();
      if (rejects.count < shownRejects) {
        rejects.quoted.push(...values.filter((value) => value !== '' && error.includes(quoted(value))));
        rejects.first.push(placed(plan, line, entries, error));
        rejects.rows.push(...rejectedValues(plan, line, values, entries, error).slice(0, shownRejects));
      }
      rejects.count += 1;
      const extra = values.slice(columns.length);
      const place = hasLine ? [] : [String(line)];
      file.appendText(csvLine([...kept.map((index) => values[index] ?? ''), ...extra, ...place, error]));
    }
    sha256 = file.finish().sha256;
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

/** `list.csv:7: error`, or `list.xlsx!Sheet1:B7: error` with the cell of the first error. */
function placed(
  { meta: { columns, source }, input }: FrozenPlan,
  line: number,
  entries: readonly RowError[],
  error: string,
): string {
  if (input?.sheet === undefined) return located(source, error, { line });
  const { name, columns: ofSheet } = input.sheet;
  const field = entries[0] === undefined ? input.recipient : columns.indexOf(entries[0].column);
  const column = ofSheet[field ?? -1];
  const cell = column === undefined ? undefined : columnLetters(column) + line;
  return located(sheetName(source, name), error, { line, cell });
}

function rejectedValues(
  { meta: { columns }, input }: FrozenPlan,
  line: number,
  values: readonly string[],
  entries: readonly RowError[],
  error: string,
): RejectedValue[] {
  const recipient = columns[input?.recipient ?? -1] ?? '';
  const errors = entries.length > 0 ? entries : [{ column: recipient, error }];
  return errors.map(({ column, error: message }) => {
    const index = columns.indexOf(column);
    const value = index === -1 ? null : (values[index] ?? '');
    return { line, column, value: value === null ? null : cut(value), message };
  });
}

const cut = (value: string) =>
  value.length > shownCharacters ? `${value.slice(0, shownCharacters)}...` : value;
