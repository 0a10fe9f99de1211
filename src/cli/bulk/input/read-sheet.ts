import { grouped } from '../../text/wording.js';
import { type CellError, DamageWatch, hiddenValue } from './cell-error.js';
import { FileError, InputError, sheetName } from './input-error.js';
import { maxRowLength } from './row-parser.js';
import type { ReadTable, RowConsumer, TableHandlers, TableInput, TableOptions } from './table-handlers.js';
import { type TableFormat, TableParser } from './table-parser.js';
import { MemoryStore } from './workbook/archive.js';
import { readWorkbook, type WorkbookReading } from './workbook/read-workbook.js';
import { WorkbookError } from './workbook/workbook-error.js';

/** Reads a table from a sheet of an Excel workbook. Its copy has one CSV record for each row of the sheet. */
export async function readSheet<Consumer extends RowConsumer>(
  { bytes, source }: TableInput,
  { headerless = false, headerRow, visibleOnly, sheet, signal }: TableOptions,
  handlers: TableHandlers<Consumer>,
): Promise<ReadTable<Consumer>> {
  const store = (name: string) => handlers.store?.(name) ?? new MemoryStore();
  const rows = new SheetIntake(source, headerless, handlers);
  try {
    const reading = await readWorkbook(
      bytes,
      { headerless, headerRow, visibleOnly, sheet, signal, store },
      (sheet, record, row, errors, stored) => rows.take(sheet, record, row, errors, stored),
    );
    return rows.finish(reading);
  } catch (error) {
    if (!(error instanceof WorkbookError)) throw error;
    const kind = error.sheets.length > 0 ? 'sheet' : 'file';
    throw new FileError(kind, source, error.message, error.hint, error.sheets);
  }
}

class SheetIntake<Consumer extends RowConsumer> {
  readonly #source: string;
  readonly #handlers: TableHandlers<Consumer>;
  readonly #format: TableFormat;
  #parser: TableParser | null = null;
  #consumer: Consumer | null = null;
  readonly #damage = new DamageWatch();
  /** The last row of the sheet that was copied. */
  #copied = 0;

  constructor(source: string, headerless: boolean, handlers: TableHandlers<Consumer>) {
    this.#source = source;
    this.#handlers = handlers;
    // Reports are opened in Excel, like the list, and Excel needs the mark.
    this.#format = { delimiter: ',', firstLine: 1, headerless, marked: true };
  }

  take(
    sheet: string,
    record: string[],
    row: number,
    errors: readonly CellError[],
    stored: ReadonlyMap<number, string>,
  ): void {
    const isHeader = this.#parser === null && !this.#format.headerless;
    this.#parser ??= this.#begin(sheet, record, row);
    if (this.#consumer !== null && !isHeader) {
      const { recipientColumn } = this.#consumer;
      const recipient = stored.get(recipientColumn) ?? record[recipientColumn] ?? '';
      record[recipientColumn] = recipient;
      for (const each of errors)
        if (each.isHidden && each.field === recipientColumn) each.error = hiddenValue(recipient);
    }
    const text = csvLine(record);
    if (text.length > maxRowLength) {
      throw new InputError(
        'csv',
        sheetName(this.#source, sheet),
        `this row has over ${grouped(maxRowLength)} characters`,
        'Shorten its texts.',
        { line: row },
      );
    }
    const block = Buffer.from('\n'.repeat(row - this.#copied - 1) + text);
    this.#handlers.copy(block);
    this.#copied = row;
    this.#damage.read(block);
    if (!isHeader) this.#parser.take(record, row, errors);
  }

  finish({ sheet, columns, hiddenRows }: WorkbookReading): ReadTable<Consumer> {
    const format = { ...this.#format, sheet: { name: sheet, columns } };
    return { format, columns: this.#parser?.columns ?? [], consumer: this.#consumer, hiddenRows };
  }

  /** The consumer must know the recipient column before it takes the first row. */
  #begin(sheet: string, first: string[], row: number): TableParser {
    const source = sheetName(this.#source, sheet);
    const parser = new TableParser(
      { ...this.#format, sheet: { name: sheet, columns: [] } },
      source,
      (columns, line) => {
        this.#consumer = this.#handlers.onHeader(columns, line, source, this.#damage);
      },
      (record, line, errors, written) => this.#consumer?.take(record, line, errors, written),
    );
    parser.begin(first, row);
    return parser;
  }
}

/** A record in the copy; not guarded, because it is read back verbatim. */
function csvLine(record: readonly string[]): string {
  let last = record.length - 1;
  while (last > 0 && record[last] === '') last -= 1;
  let line = field(record[0] ?? '');
  for (let at = 1; at <= last; at += 1) line += `,${field(record[at] ?? '')}`;
  return `${line}\n`;
}

const field = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
