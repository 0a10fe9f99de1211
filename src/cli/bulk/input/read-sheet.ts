import { grouped } from '../../text/wording.js';
import { hiddenValue } from './cell-error.js';
import { FileError, InputError, sheetName } from './input-error.js';
import { maxRowLength } from './row-parser.js';
import {
  type ReadTable,
  type RowConsumer,
  Table,
  type TableHandlers,
  type TableInput,
  type TableOptions,
} from './table.js';
import { MemoryStore } from './workbook/archive.js';
import { readWorkbook } from './workbook/read-workbook.js';
import type { RecordHandler } from './workbook/sheet-table.js';
import { WorkbookError } from './workbook/workbook-error.js';

/** Reads a table from a sheet of an Excel workbook. Its copy has one CSV record for each row of the sheet. */
export async function readSheet<Consumer extends RowConsumer>(
  { bytes, source }: TableInput,
  { headerless = false, headerRow, visibleOnly, sheet, signal }: TableOptions,
  handlers: TableHandlers<Consumer>,
): Promise<ReadTable<Consumer>> {
  const store = (name: string) => handlers.store?.(name) ?? new MemoryStore();
  // Reports are opened in Excel, like the list, and Excel needs the mark.
  const format = { delimiter: ',', firstLine: 1, headerless, marked: true } as const;
  let table: Table<Consumer> | undefined;
  try {
    const reading = await readWorkbook(
      bytes,
      { headerless, headerRow, visibleOnly, sheet, signal, store },
      (name) => {
        table = new Table(
          { ...format, sheet: { name, columns: [] } },
          sheetName(source, name),
          handlers.onHeader,
        );
        return recordTaker(table, handlers, sheetName(source, name), headerless);
      },
    );
    const columns = table?.columns ?? [];
    const sheetRead = { name: reading.sheet, columns: reading.columns };
    return {
      format: { ...format, sheet: sheetRead },
      columns,
      consumer: table?.consumer ?? null,
      hiddenRows: reading.hiddenRows,
      unread: { columns: reading.namelessColumns, shortRows: 0 },
    };
  } catch (error) {
    if (!(error instanceof WorkbookError)) throw error;
    const kind = error.sheets.length > 0 ? 'sheet' : 'file';
    throw new FileError(kind, source, error.message, error.hint, error.sheets);
  }
}

/** Copies the records, and passes them to the table: the recipients as stored, all others as shown. */
function recordTaker<Consumer extends RowConsumer>(
  table: Table<Consumer>,
  { copy }: Pick<TableHandlers<Consumer>, 'copy'>,
  source: string,
  headerless: boolean,
): RecordHandler {
  /** The last row of the sheet that was copied. */
  let copied = 0;
  return (record, row, found, stored) => {
    let errors = found;
    const isHeader = table.consumer === null && !headerless;
    // The consumer must know the recipient column before it takes the first row.
    if (table.consumer === null) table.begin(record, row);
    if (table.consumer !== null && !isHeader) {
      const { recipientColumn } = table.consumer;
      const recipient = stored.get(recipientColumn) ?? record[recipientColumn] ?? '';
      record[recipientColumn] = recipient;
      for (const each of errors)
        if (each.isHidden && each.field === recipientColumn) each.error = hiddenValue(recipient);
      if (errors.length > 0 && stored.has(recipientColumn))
        errors = errors.filter(({ field, isHidden }) => isHidden || field !== recipientColumn);
    }
    const text = csvLine(record);
    if (text.length > maxRowLength) {
      const what = `this row has over ${grouped(maxRowLength)} characters`;
      throw new InputError('csv', source, what, 'Shorten its texts.', { line: row });
    }
    const block = Buffer.from('\n'.repeat(row - copied - 1) + text);
    copy(block);
    copied = row;
    table.damage.read(block);
    if (!isHeader) table.take(record, row, errors);
  };
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
