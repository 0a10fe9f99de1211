import { unguard } from '../../csv/line.js';
import type { Delimiter } from './delimiter.js';
import { InputError } from './input-error.js';
import { numberedColumns, readHeader } from './recipient-column.js';
import { isOwnHeader } from './report-columns.js';
import { type RowHandler, RowParser } from './row-parser.js';
import type { CellFault } from './workbook/sheet-table.js';

/** How the rows of an input are written; with it, its copy is read again in the same way. */
export interface TableFormat {
  delimiter: Delimiter;
  /** Line of the first row, the header's if there is one. */
  firstLine: number;
  headerless: boolean;
  /** The input began with a byte order mark. */
  marked?: boolean;
  /** Index of the recipient column; earlier releases did not keep it. */
  recipient?: number;
  /** The sheet of a workbook, and its column of each field: 0 for A. */
  sheet?: { name: string; columns: number[] };
}

/**
 * The rows of an input below its header. Blank rows are left out, empty fields beyond the header's are cut
 * off, and the guard against formulas is taken off files that this program wrote.
 */
export class Table {
  columns: string[] = [];
  readonly #format: TableFormat;
  readonly #source: string;
  readonly #parser: RowParser;
  readonly #onHeader: (columns: string[], line: number) => void;
  readonly #onRow: RowHandler;
  #own = false;

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

  /** Line of the row in which what was fed so far ends; nothing may be fed after. */
  async lastLine(): Promise<number> {
    // The parser holds back some bytes until it has seen what follows.
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
  take(record: string[], line: number, faults?: readonly CellFault[]): void {
    if (isBlank(record)) return;
    if (this.columns.length === 0) {
      this.#header(record, line);
      if (!this.#format.headerless) return;
    }
    const width = this.columns.length;
    if (record.length > width && isBlank(record.slice(width))) record.length = width;
    this.#onRow(this.#own ? record.map(unguard) : record, line, faults);
  }

  #header(record: string[], line: number): void {
    const damaged = record.find(isDamaged);
    if (damaged !== undefined) {
      throw new InputError('encoding', this.#source, 'the header holds damaged characters', damageHint, {
        line,
      });
    }
    this.columns = this.#format.headerless
      ? numberedColumns(record.length)
      : readHeader(record, this.#source, line);
    this.#own = isOwnHeader(this.columns);
    this.#onHeader(this.columns, line);
  }
}

const damageHint = 'export the file again as UTF-8';

/** U+FFFD stands where a character was lost, NUL where the bytes are no text. */
export function isDamaged(value: string): boolean {
  return value.includes('\ufffd') || value.includes('\0');
}

/** A row of a spreadsheet in which nothing was written. */
function isBlank(record: readonly string[]): boolean {
  const first = record[0]?.charCodeAt(0) ?? 0;
  if (first > 0x20 && first < 0x7f) return false;
  return record.every((field) => field.trim() === '');
}
