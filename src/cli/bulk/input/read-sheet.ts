import { FileError } from './file-error.js';
import { InputError, sheetName } from './input-error.js';
import { maxRowLength } from './row-parser.js';
import type { ReadTable, RowTaker, TableHandlers, TableInput, TableOptions } from './table-handlers.js';
import { isDamaged, Table, type TableFormat } from './table-parser.js';
import { MemoryStore } from './workbook/memory-store.js';
import { readWorkbook, type WorkbookReading } from './workbook/read-workbook.js';
import type { CellFault } from './workbook/sheet-table.js';
import { WorkbookError } from './workbook/workbook-error.js';

/** Reads a table from a sheet of an Excel workbook. Its copy has a CSV record for each row of the sheet. */
export async function readSheet<Taker extends RowTaker>(
  { bytes, source }: TableInput,
  { headerless = false, sheet, signal }: TableOptions,
  handlers: TableHandlers<Taker>,
): Promise<ReadTable<Taker>> {
  const store = (name: string) => handlers.store?.(name) ?? new MemoryStore();
  const rows = new SheetIntake(source, headerless, handlers);
  try {
    const reading = await readWorkbook(
      bytes,
      { headerless, sheet, signal, store },
      (name, record, row, faults) => rows.take(name, record, row, faults),
    );
    return rows.finish(reading);
  } catch (error) {
    if (!(error instanceof WorkbookError)) throw error;
    const fault = error.sheets.length > 0 ? 'sheet' : 'file';
    throw new FileError(fault, source, error.message, error.hint, error.sheets);
  }
}

class SheetIntake<Taker extends RowTaker> {
  readonly #source: string;
  readonly #handlers: TableHandlers<Taker>;
  readonly #format: TableFormat;
  #table: Table | null = null;
  #taker: Taker | null = null;
  #damageSeen = false;
  /** The row of the sheet that was copied last. */
  #copied = 0;

  constructor(source: string, headerless: boolean, handlers: TableHandlers<Taker>) {
    this.#source = source;
    this.#handlers = handlers;
    // A report is for the program that the list is from, which needs the mark.
    this.#format = { delimiter: ',', firstLine: 1, headerless, marked: true };
  }

  take(sheet: string, record: string[], row: number, faults: readonly CellFault[]): void {
    this.#table ??= this.#begin(sheetName(this.#source, sheet));
    const text = copied(record);
    if (text.length > maxRowLength) {
      throw new InputError(
        'csv',
        sheetName(this.#source, sheet),
        `this row has over ${maxRowLength} characters`,
        'shorten its texts',
        { line: row },
      );
    }
    this.#handlers.copy(Buffer.from('\n'.repeat(row - this.#copied - 1) + text));
    this.#copied = row;
    if (!this.#damageSeen && isDamaged(text)) {
      this.#damageSeen = true;
      if (this.#taker !== null) this.#taker.damageSeen = true;
    }
    this.#table.take(record, row, faults);
  }

  finish({ sheet, columns, hiddenRows }: WorkbookReading): ReadTable<Taker> {
    const format = { ...this.#format, sheet: { name: sheet, columns } };
    return { format, columns: this.#table?.columns ?? [], taker: this.#taker, hiddenRows };
  }

  #begin(source: string): Table {
    return new Table(
      this.#format,
      source,
      (columns, line) => {
        this.#taker = this.#handlers.onHeader(columns, line, source);
        this.#taker.damageSeen = this.#damageSeen;
      },
      (record, line, faults) => this.#taker?.take(record, line, faults),
    );
  }
}

/** A record as the copy has it: not guarded, since it is read back as it was. */
function copied(record: readonly string[]): string {
  let last = record.length - 1;
  while (last > 0 && record[last] === '') last -= 1;
  let line = field(record[0] ?? '');
  for (let at = 1; at <= last; at += 1) line += `,${field(record[at] ?? '')}`;
  return `${line}\n`;
}

const field = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
