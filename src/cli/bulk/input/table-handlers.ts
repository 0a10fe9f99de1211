import type { Delimiter } from './delimiter.js';
import type { TableFormat } from './table-parser.js';
import type { ByteStore } from './workbook/archive.js';
import type { CellFault } from './workbook/sheet-table.js';

export interface TableInput {
  /** The bytes as they come, such as a file's read stream or standard input. */
  bytes: AsyncIterable<Uint8Array>;
  /** The file's name as given, or `-`. */
  source: string;
}

export interface TableOptions {
  encoding?: string | undefined;
  delimiter?: Delimiter | undefined;
  headerless?: boolean | undefined;
  /** Name of the sheet of a workbook. */
  sheet?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** What takes the rows of a table; made when the header is known. */
export interface RowTaker {
  /** `faults` has the cells of a workbook that hold no value, such as #N/A. */
  take(record: readonly string[], line: number, faults?: readonly CellFault[]): void;
  /** Set when damaged characters were seen, before any row with them is taken. */
  damageSeen: boolean;
}

export interface TableHandlers<Taker extends RowTaker> {
  /** Gets the header and the rows as UTF-8, before they are parsed. */
  copy(block: Buffer): void;
  /** `source` names the file, and the sheet of a workbook. */
  onHeader(columns: string[], line: number, source: string): Taker;
  /** Makes a store for what memory should not hold; without it a workbook is held in memory. */
  store?(name: string): ByteStore;
}

export interface ReadTable<Taker extends RowTaker> {
  format: TableFormat;
  columns: string[];
  /** What took the rows; null for an input without a header. */
  taker: Taker | null;
  /** Rows of a sheet that a filter or a person has hidden; they were read like the others. */
  hiddenRows: number;
}
