import type { DamageWatch } from './cell-error.js';
import type { Delimiter } from './delimiter.js';
import type { RowHandler } from './row-parser.js';
import type { TableFormat } from './table-parser.js';
import type { ByteStore } from './workbook/archive.js';

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
  take(...row: Parameters<RowHandler>): void;
  /** The column of the recipients or ids: its cells are read as stored, all others as shown. */
  readonly recipientColumn: number;
}

export interface TableHandlers<Consumer extends RowConsumer> {
  /** Receives the header and the rows as UTF-8, before they are parsed. */
  copy(block: Buffer): void;
  /** `source` names the file, and the sheet of a workbook. */
  onHeader(columns: string[], line: number, source: string, damage: DamageWatch): Consumer;
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
}
