import type { Channel } from '../../../contract/index.js';
import { InputError } from '../input/input-error.js';
import { findRecipientColumn } from '../input/recipient-column.js';
import type { RecipientReader } from '../input/recipient-reader.js';
import { reportColumn } from '../input/report-columns.js';
import { findReportColumns, isOfDelivery, type ReportColumns, suppressedCode } from './reported-rows.js';

/** The columns of an input that the planner reads, as indexes. */
export interface SelectedColumns {
  names: readonly string[];
  recipient: number;
  /** The rows that `--only` selects; null selects every row. */
  selection: RowSelection | null;
  /** Null if rows do not name the job of their report. */
  report: ReportColumns | null;
}

export interface RowSelection {
  /** Indexes of the columns that it reads. */
  columns: readonly number[];
  /** The selected status that a row has, which `undelivered` and `unknown` are, too; null for other rows. */
  statusOf(record: readonly string[]): string | null;
}

export interface ColumnOptions {
  channel: Channel;
  toColumn?: string | undefined;
  headerless?: boolean | undefined;
  /** Plans only rows with one of these statuses, or `undelivered` or `unknown`. */
  only?: readonly string[] | undefined;
  /** Ids of messages that are no longer unknown. */
  known?: ReadonlySet<string> | undefined;
}

/** Finds the columns in a header. Throws InputError. */
export function selectColumns(
  { names, line, source }: { names: readonly string[]; line: number; source: string },
  { channel, toColumn, headerless = false, only, known }: ColumnOptions,
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
  if (only === undefined) return { names, recipient, selection: null, report: null };
  const column = (name: string) => {
    const found = reportColumn(names, name);
    if (found !== -1) return found;
    const hint = 'Use a new report of a job.';
    throw new InputError('columns', source, `no ${name} column for --only`, hint, { line });
  };
  return {
    names,
    recipient,
    selection: selectionOf(only, known, column, reportColumn(names, 'error_code')),
    report: findReportColumns(names),
  };
}

/** Certainly not delivered; `unknown` might be. */
const undelivered: ReadonlySet<string> = new Set(['undelivered', 'bounced']);

/**
 * Which of the wanted statuses a row with this status and delivery is selected by; null for none. Of those that were
 * sent, `undelivered` and `unknown` select by the delivery.
 */
export function selectedAs(wanted: ReadonlySet<string>, status: string, delivery: string): string | null {
  if (isOfDelivery(status)) return null;
  if (wanted.has(status)) return status;
  if (status !== 'sent') return null;
  if (wanted.has('undelivered') && undelivered.has(delivery)) return 'undelivered';
  return wanted.has('unknown') && delivery === 'unknown' ? 'unknown' : null;
}

function selectionOf(
  only: readonly string[],
  known: ReadonlySet<string> | undefined,
  column: (name: string) => number,
  code: number,
): RowSelection {
  const wanted = new Set(only.map((status) => status.toLowerCase()));
  const status = column('status');
  const delivery = [...wanted].some(isOfDelivery) ? column('delivery') : null;
  const id = wanted.has('unknown') ? column('message_id') : null;
  const cell = (record: readonly string[], index: number | null) =>
    index === null ? '' : (record[index] ?? '').trim();
  return {
    columns: [status, delivery, id].filter((index) => index !== null),
    statusOf(record) {
      // A report of an earlier release calls them failed or rejected.
      if (code !== -1 && cell(record, code) === suppressedCode) return null;
      const selected = selectedAs(
        wanted,
        cell(record, status).toLowerCase(),
        cell(record, delivery).toLowerCase(),
      );
      return selected === 'unknown' && known?.has(cell(record, id)) ? null : selected;
    },
  };
}
