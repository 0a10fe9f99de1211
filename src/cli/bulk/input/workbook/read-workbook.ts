import { Archive, type ByteStore } from './archive.js';
import { readStyles, Styles } from './cell-format.js';
import { readMergedCells } from './merged-cells.js';
import { readSharedStrings, SharedStrings } from './shared-strings.js';
import { SheetRows } from './sheet-rows.js';
import { type RecordHandler, SheetTable, type SheetTableOptions } from './sheet-table.js';
import { chooseSheet, openWorkbook } from './workbook.js';
import { readXml } from './xml.js';

export interface WorkbookOptions extends SheetTableOptions {
  /** Name of the sheet. Default: the only one with rows. */
  sheet?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Creates a store for data that does not fit in memory. */
  store: (name: string) => ByteStore;
}

export interface WorkbookReading {
  sheet: string;
  /** The sheet's column for each field: 0 for A. */
  columns: number[];
  hiddenRows: number;
  /** Columns without a name that are left out although they have values. */
  namelessColumns: number;
}

/**
 * Reads a sheet of an Excel workbook (.xlsx, .xlsm) in constant memory. The first record is the header. Throws
 * WorkbookError if the file is damaged or not as expected.
 */
export async function readWorkbook(
  bytes: AsyncIterable<Uint8Array>,
  options: WorkbookOptions,
  onSheet: (name: string) => RecordHandler,
): Promise<WorkbookReading> {
  const { signal } = options;
  const store = options.store('workbook');
  for await (const block of bytes) {
    signal?.throwIfAborted();
    store.append(block);
  }
  const archive = await Archive.open(store);
  const workbook = await openWorkbook(archive);
  const { name, part } = await chooseSheet(workbook, options.sheet);
  const strings = new SharedStrings(() => options.store('texts'));
  const read = (each: string) => abortable(archive.read(each), signal);
  if (workbook.strings !== null) await readSharedStrings(workbook.strings, read(workbook.strings), strings);
  const styles =
    workbook.styles === null ? new Styles() : await readStyles(workbook.styles, read(workbook.styles));
  const table = new SheetTable(options, onSheet(name));
  const merged = await readMergedCells(part, () => read(part));
  const rules = { strings, styles, from1904: workbook.from1904, merged };
  await readXml(part, read(part), new SheetRows(part, rules, (row) => table.take(row)));
  const { columns, hiddenRows, indexes } = table;
  return { sheet: name, columns, hiddenRows, namelessColumns: indexes.size };
}

async function* abortable(blocks: AsyncIterable<Buffer>, signal: AbortSignal | undefined) {
  for await (const block of blocks) {
    signal?.throwIfAborted();
    yield block;
  }
}
