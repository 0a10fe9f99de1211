import { unguard } from '../../csv/line.js';
import { type CellError, cellErrorsLeft, isDamaged } from './cell-error.js';
import type { Delimiter } from './delimiter.js';
import { numberedColumns, readColumnNames } from './header.js';
import { InputError } from './input-error.js';
import { type OwnColumns, ownColumns } from './report-columns.js';
import { type RowHandler, RowParser } from './row-parser.js';

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

/**
 * Parses a header and the rows below it. It leaves out blank rows, drops empty fields beyond the header's, and removes
 * the guard against formulas from files that this program wrote.
 */
export class TableParser {
  columns: string[] = [];
  readonly #format: TableFormat;
  readonly #source: string;
  readonly #parser: RowParser;
  readonly #onHeader: (columns: string[], line: number) => void;
  readonly #onRow: RowHandler;
  #own: OwnColumns = new Map();

  constructor(
    format: TableFormat,
    source: string,
    onHeader: (columns: string[], line: number) => void,
    onRow: RowHandler,
  ) {
    this.#format = format;
    this.#source = source;
    this.#onHeader = onHeader;
    this.#onRow = onRow;
    this.#parser = new RowParser(format, source, (record, line) => this.take(record, line));
  }

  /** Line of the row in which the input ends so far; nothing may be fed afterwards. */
  async lastLine(): Promise<number> {
    // The parser holds back some bytes until the next ones arrive.
    await this.#parser.feed(Buffer.from('    '));
    return this.#parser.line;
  }

  feed(block: Buffer): Promise<void> {
    return this.#parser.feed(block);
  }

  finish(): Promise<void> {
    return this.#parser.finish();
  }

  /** Takes a record that needs no parsing. */
  take(record: string[], line: number, errors?: readonly CellError[]): void {
    if (isBlank(record)) return;
    if (this.columns.length === 0) {
      this.begin(record, line);
      if (!this.#format.headerless) return;
    }
    const width = this.columns.length;
    if (record.length > width && isBlank(record.slice(width))) record.length = width;
    if (this.#own.size > 0) this.#takeOwn(record, line, errors);
    else this.#onRow(record, line, errors);
  }

  #takeOwn(guarded: string[], line: number, errors: readonly CellError[] = []): void {
    const record = guarded.map(unguard);
    const written = errorColumns.map((name) => record[this.#own.get(name) ?? -1] ?? '').join();
    const left = written === ',' ? [] : cellErrorsLeft(record, this.columns, written);
    this.#onRow(record, line, left.length === 0 ? errors : [...errors, ...left], guarded);
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
      this.columns = this.#format.headerless
        ? numberedColumns(record.length)
        : readColumnNames(record, this.#source, line);
      this.#own = ownColumns(this.columns);
      this.#onHeader(this.columns, line);
    } catch (error) {
      const isTitle = !this.#format.headerless && record.filter((name) => name.trim() !== '').length === 1;
      throw isTitle && error instanceof InputError ? error.withHint(titleHint) : error;
    }
  }
}

/** With the errors of a row, in a rejects file and in a report. */
const errorColumns = ['error', 'error_code'];

const titleHint = 'If a later row names the columns, add --header-row with its number.';

function isBlank(record: readonly string[]): boolean {
  const first = record[0]?.charCodeAt(0) ?? 0;
  if (first > 0x20 && first < 0x7f) return false;
  return record.every((field) => field.trim() === '');
}
