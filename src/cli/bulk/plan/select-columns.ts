import type { Channel } from '../../../contract/index.js';
import { counted } from '../../text/wording.js';
import { type CellError, errorValue, isErrorValue } from '../input/cell-error.js';
import { InputError } from '../input/input-error.js';
import { findRecipientColumn } from '../input/recipient-column.js';
import { type RecipientReader, recipientReader } from '../input/recipient-reader.js';
import { reportColumn } from '../input/report-columns.js';
import { Where } from '../input/where.js';
import type { MessageError } from './composer.js';
import { findReportColumns, isOfDelivery, type ReportColumns, suppressedCode } from './reported-rows.js';

/** The columns of an input that the planner reads, as indexes. */
export interface SelectedColumns {
  names: readonly string[];
  recipient: number;
  /** The rows that `--where`, `--only` and `--exclude` leave; null leaves every row. */
  selection: RowSelection | null;
  /** Null if rows do not name the job of their report. */
  report: ReportColumns | null;
}

/** The option that leaves out a row. */
export type LeftOut = 'where' | 'only' | 'exclude';

export interface RowSelection {
  /** Indexes of the columns whose cells it needs, also for a row that `--only` leaves out. */
  columns: readonly number[];
  /** The selected status that a row has, which `undelivered` and `unknown` are, too; null for other rows. */
  statusOf(record: readonly string[]): string | null;
  /** What leaves out a row; null for one that is sent. */
  leavesOut(record: readonly string[], errors: readonly CellError[]): LeftOut | null;
  /** Cells of a row that `--where` cannot compare. */
  faultsIn(record: readonly string[]): MessageError[];
}

export interface ColumnOptions {
  channel: Channel;
  toColumn?: string | undefined;
  headerless?: boolean | undefined;
  /** Plans only rows with one of these statuses, or `undelivered` or `unknown`. */
  only?: readonly string[] | undefined;
  /** Ids of messages that are no longer unknown. */
  known?: ReadonlySet<string> | undefined;
  /** Plans only rows for which all of these hold: see `Where`. */
  where?: readonly string[] | undefined;
  /** Whether the recipient in a cell is excluded. */
  isExcluded?: ((cell: string) => boolean) | undefined;
}

/** Finds the columns in a header. Throws InputError. */
export function selectColumns(
  { names, line, source }: { names: readonly string[]; line: number; source: string },
  { channel, toColumn, headerless = false, only, known, where, isExcluded }: ColumnOptions,
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
  const matches = where && new Where(where, { names, line, source, recipient }, recipientReader(channel));
  const column = (name: string) => {
    const found = reportColumn(names, name);
    if (found !== -1) return found;
    const hint = 'Use a new report of a job.';
    throw new InputError('columns', source, `no ${name} column for --only`, hint, { line });
  };
  const status = only && selectedStatus(only, known, column, reportColumn(names, 'error_code'));
  const selection: RowSelection = {
    columns: [...(matches?.columns ?? []), ...(status?.columns ?? [])],
    statusOf: (record) => status?.of(record) ?? null,
    leavesOut(record, errors) {
      if (matches?.leavesOut(record, errors)) return 'where';
      if (status && status.of(record) === null) return 'only';
      return isExcluded?.(record[recipient] ?? '') ? 'exclude' : null;
    },
    faultsIn: (record) =>
      (matches?.columns ?? []).flatMap((index) => {
        const value = record[index] ?? '';
        return isErrorValue(value) ? [{ column: names[index] ?? '', error: errorValue(value.trim()) }] : [];
      }),
  };
  return {
    names,
    recipient,
    selection: matches || status || isExcluded ? selection : null,
    report: status ? findReportColumns(names) : null,
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

/** `of`: the status that a row is selected by; null for none. */
function selectedStatus(
  only: readonly string[],
  known: ReadonlySet<string> | undefined,
  column: (name: string) => number,
  code: number,
): { columns: readonly number[]; of(record: readonly string[]): string | null } {
  const wanted = new Set(only.map((status) => status.toLowerCase()));
  const status = column('status');
  const delivery = [...wanted].some(isOfDelivery) ? column('delivery') : null;
  const id = wanted.has('unknown') ? column('message_id') : null;
  const cell = (record: readonly string[], index: number | null) =>
    index === null ? '' : (record[index] ?? '').trim();
  return {
    columns: [status, delivery, id].filter((index) => index !== null),
    of(record) {
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

/** Nobody is left to send to; `leftOut` is null for an empty input. */
export function noRecipients(
  source: string,
  { where = [], only }: Pick<ColumnOptions, 'where' | 'only'>,
  leftOut: Readonly<Record<LeftOut, number>> | null,
): InputError {
  const empty = (what: string, hint: string) => new InputError('empty', source, what, hint);
  if (leftOut !== null && leftOut.exclude > 0)
    return empty(`--exclude leaves out all ${counted(leftOut.exclude, 'row')}`, 'Nothing is left to send.');
  if (leftOut !== null && leftOut.where > 0 && leftOut.only === 0)
    return empty(
      `no row has ${where.join(' and ')}`,
      'The value must match the whole cell, in any letter case.',
    );
  return only === undefined
    ? empty('no recipients', 'Add a row for each recipient below the header.')
    : empty(`no row has the status ${only.join(' or ')}`, 'Nothing is left to send.');
}
