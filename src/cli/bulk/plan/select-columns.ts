import type { Channel } from '../../../contract/index.js';
import { columnNamed } from '../input/header.js';
import { InputError } from '../input/input-error.js';
import { findRecipientColumn } from '../input/recipient-column.js';
import type { RecipientReader } from '../input/recipient-reader.js';
import { findReportColumns, type ReportColumns } from './reported-rows.js';

/** The columns of an input that the planner reads, as indexes. */
export interface SelectedColumns {
  names: readonly string[];
  recipient: number;
  /** The status column and the statuses to send to; null selects every row. */
  status: { column: number; selected: ReadonlySet<string> } | null;
  /** Null where rows do not name the job of their report. */
  report: ReportColumns | null;
}

export interface ColumnOptions {
  channel: Channel;
  toColumn?: string | undefined;
  headerless?: boolean | undefined;
  /** Plans only rows with one of these in their `status` column. */
  only?: readonly string[] | undefined;
}

/** Finds the columns in a header. Throws InputError. */
export function selectColumns(
  { names, line, source }: { names: readonly string[]; line: number; source: string },
  { channel, toColumn, headerless = false, only }: ColumnOptions,
  reader: RecipientReader,
): SelectedColumns {
  const isRecipient = (cell: string) => reader.read(cell) === null;
  const recipient = findRecipientColumn({
    channel,
    columns: names,
    toColumn,
    headerless,
    source,
    line,
    isRecipient,
  });
  if (only === undefined) return { names, recipient, status: null, report: null };
  const column = columnNamed(names, 'status');
  if (column === -1) {
    const hint = 'Use the report of a job.';
    throw new InputError('columns', source, 'no status column for --only', hint, { line });
  }
  const selected = new Set(only.map((status) => status.toLowerCase()));
  return { names, recipient, status: { column, selected }, report: findReportColumns(names) };
}
