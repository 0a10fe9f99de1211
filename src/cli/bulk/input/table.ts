import { unguard } from '../../../contract/csv.js';
import { type CellError, cellErrorsLeft, DamageWatch, isDamaged } from './cell-error.js';
import type { Delimiter } from './delimiter.js';
import { namedFields, numberedColumns, readColumnNames } from './header.js';
import { InputError } from './input-error.js';
import { isOwnName, type OwnColumns, ownColumns } from './report-columns.js';
import type { ByteStore } from './workbook/archive.js';

/** How an input is written. A plan keeps it to read its copy of the input the same way. */
export interface TableFormat {
  delimiter: Delimiter;
  /** Line of the first row, which is the header if there is one. */
  firstLine: number;
  headerless: boolean;
  /** Whether the input began with a byte order mark. */
  marked?: boolean;
  /** Index of the recipient column; absent in plans of earlier releases. */
  recipient?: number;
  /** The sheet of a workbook, and the sheet's column for each field: 0 for A. */
  sheet?: { name: string; columns: number[] };
}

export interface TableInput {
  /** The bytes as they arrive, for example from a file's read stream or standard input. */
  bytes: AsyncIterable<Uint8Array>;
  /** The file's name as given, or `-`. */
  source: string;
}

export interface TableOptions {
  /** A WHATWG label, such as `windows-1251`. */
  encoding?: string | undefined;
  delimiter?: Delimiter | undefined;
  headerless?: boolean | undefined;
  /** Row of the column names, from 1; earlier rows are left out. */
  headerRow?: number | undefined;
  /** Leaves out the rows of a sheet that are hidden, by a filter or by hand. */
  visibleOnly?: boolean | undefined;
  /** Name of the workbook's sheet. */
  sheet?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Takes the rows of a table; created when the header is known. */
export interface RowConsumer {
  /** `errors` are the cells without a value, such as #N/A. */
  take: RowHandler;
  /** The column of the recipients or ids: its cells are read as stored, all others as shown. */
  readonly recipientColumn: number;
}

/** `source` names the file, and the sheet of a workbook. */
type OnHeader<Consumer> = (columns: string[], line: number, source: string, damage: DamageWatch) => Consumer;

export interface TableHandlers<Consumer extends RowConsumer> {
  /** Receives the header and the rows as UTF-8, before they are parsed. */
  copy(block: Buffer): void;
  onHeader: OnHeader<Consumer>;
  /** Creates a temporary store; without it, a workbook is held in memory. */
  store?(name: string): ByteStore;
}

export interface ReadTable<Consumer extends RowConsumer> {
  format: TableFormat;
  columns: string[];
  /** Null for an input without a header. */
  consumer: Consumer | null;
  /** Rows of a sheet that are hidden, by a filter or by hand; they were read too, unless `visibleOnly` was set. */
  hiddenRows: number;
  unread: Unread;
}

/** What a table lacks without harm. */
export interface Unread {
  /** Columns that have no name in the header, and are left out. */
  columns: number;
  /** Rows without their last fields, which are empty. */
  shortRows: number;
}

/** `written`: the record before its guards were removed, in a file of this program. */
type RowHandler = (
  record: string[],
  line: number,
  errors?: readonly CellError[],
  written?: readonly string[],
) => void;

/**
 * A header and the rows below it, which its consumer takes. It leaves out blank rows and columns without a name, drops
 * empty fields beyond the header's, adds missing last ones, and removes the guard against formulas from files that this
 * program wrote.
 */
export class Table<Consumer extends Pick<RowConsumer, 'take'>> {
  columns: string[] = [];
  /** Null until the header is known. */
  consumer: Consumer | null = null;
  readonly damage = new DamageWatch();
  readonly unread: Unread = { columns: 0, shortRows: 0 };
  readonly #format: TableFormat;
  readonly #source: string;
  readonly #onHeader: OnHeader<Consumer>;
  #own: OwnColumns = new Map();
  #isOwn = false;
  /** The fields of a row that have a name, by their indexes; null if all have. */
  #named: number[] | null = null;

  constructor(format: TableFormat, source: string, onHeader: OnHeader<Consumer>) {
    this.#format = format;
    this.#source = source;
    this.#onHeader = onHeader;
  }

  /** `isCut`: the file ends in this row, without a line end. */
  take(record: string[], line: number, errors?: readonly CellError[], isCut = false): void {
    if (isBlank(record)) return;
    if (this.columns.length === 0) {
      this.begin(record, line);
      if (!this.#format.headerless) return;
    }
    const faults = this.#named === null ? errors : takeNamed(record, this.#named);
    const width = this.columns.length;
    if (record.length !== width) this.#fit(record, width, isCut);
    if (this.#isOwn) this.#takeOwn(record, line, faults);
    else this.consumer?.take(record, line, faults);
  }

  #fit(record: string[], width: number, isCut: boolean): void {
    if (record.length > width) {
      if (isBlank(record.slice(width))) record.length = width;
    } else if (!isCut) {
      this.unread.shortRows += 1;
      while (record.length < width) record.push('');
    }
  }

  #readNames(record: readonly string[], line: number): void {
    const named = namedFields(record);
    this.columns = readColumnNames(
      named.map((index) => record[index] ?? ''),
      this.#source,
      line,
    );
    this.unread.columns = record.length - named.length;
    if (this.unread.columns > 0) this.#named = named;
  }

  #takeOwn(guarded: string[], line: number, errors: readonly CellError[] = []): void {
    const record = guarded.map(unguard);
    const written = errorColumns.map((name) => record[this.#own.get(name) ?? -1] ?? '').join();
    const left = written === ',' ? [] : cellErrorsLeft(record, this.columns, written);
    this.consumer?.take(record, line, left.length === 0 ? errors : [...errors, ...left], guarded);
  }

  /** Reads the names of the columns, or numbers them if the first row is data. */
  begin(record: readonly string[], line: number): void {
    if (record.some(isDamaged)) {
      const isSheet = this.#format.sheet !== undefined;
      const hint = isSheet ? 'Write the header again.' : 'Export the file again as UTF-8.';
      throw new InputError(
        isSheet ? 'columns' : 'encoding',
        this.#source,
        'damaged characters in the header',
        hint,
        { line },
      );
    }
    try {
      if (this.#format.headerless) this.columns = numberedColumns(record.length);
      else this.#readNames(record, line);
      this.#own = ownColumns(this.columns);
      this.#isOwn = this.#own.size > 0 || isOwnName(this.#source);
      this.consumer = this.#onHeader(this.columns, line, this.#source, this.damage);
    } catch (error) {
      const isTitle = !this.#format.headerless && record.filter((name) => name.trim() !== '').length === 1;
      throw isTitle && error instanceof InputError ? error.withHint(titleHint) : error;
    }
  }
}

const noName = 'the column has no name in the header';

/**
 * Removes the fields without a name from a record. Those before the first name are an index, as pandas and R write it; a
 * value in any other one may come from a delimiter within a field, and is an error.
 */
function takeNamed(record: string[], named: readonly number[]): readonly CellError[] {
  const faults: CellError[] = [];
  const extra: string[] = [];
  const written = record.splice(0);
  let next = 0;
  for (let index = named[0] ?? 0; index < written.length; index += 1) {
    const value = written[index] ?? '';
    if (named[next] === index) {
      record.push(value);
      next += 1;
    } else if (value.trim() !== '') {
      extra.push(value);
      faults.push({ field: null, letters: `column ${index + 1}`, error: noName });
    }
  }
  if (extra.length > 0) {
    while (record.length < named.length) record.push('');
    record.push(...extra);
  }
  return faults;
}

/** With the errors of a row, in a rejects file and in a report. */
const errorColumns = ['error', 'error_code'];

const titleHint = 'If a later row names the columns, add --header-row with its number.';

function isBlank(record: readonly string[]): boolean {
  const first = record[0]?.charCodeAt(0) ?? 0;
  if (first > 0x20 && first < 0x7f) return false;
  return record.every((field) => field.trim() === '');
}
