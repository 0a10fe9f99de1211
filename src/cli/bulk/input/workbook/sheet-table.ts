import { columnLetters } from '../../../xlsx/cell-reference.js';
import { type CellError, hiddenValue } from '../cell-error.js';
import type { SheetRow } from './sheet-rows.js';

export interface SheetTableOptions {
  /** Whether the first row is data. */
  headerless?: boolean | undefined;
  /** Row of the column names; earlier rows are left out. Default: the first row with cells. */
  headerRow?: number | undefined;
  /** Leaves out the rows that are hidden, by a filter or by hand. */
  visibleOnly?: boolean | undefined;
}

/** `stored`: stored values that differ from the text shown, by field; the map is reused for the next record. */
export type RecordHandler = (
  record: string[],
  row: number,
  faults: readonly CellError[],
  stored: ReadonlyMap<number, string>,
) => void;

const none: readonly CellError[] = [];
const noName = 'the column has no name in the header';
const outside = 'the first row has nothing in this column';

/**
 * Turns the rows of a sheet into records with the columns of its first row. Columns without a name there are left out,
 * wherever they are. Those before the first name are an index, as pandas writes it; a row with a value in any other one
 * has an error, unless merged cells hide it.
 */
export class SheetTable {
  /** The sheet's column for each field. */
  columns: number[] = [];
  /** Rows below the header that are hidden, by a filter or by hand. */
  hiddenRows = 0;
  /** Columns with values before the first one with a name. */
  readonly indexes = new Set<number>();
  readonly #headerless: boolean;
  readonly #headerRow: number;
  readonly #visibleOnly: boolean;
  readonly #onRecord: RecordHandler;
  readonly #stored = new Map<number, string>();
  /** Field for each column of the sheet, -1 for none. */
  #fields = new Int16Array(0);

  constructor(
    { headerless = false, headerRow = 1, visibleOnly = false }: SheetTableOptions,
    onRecord: RecordHandler,
  ) {
    this.#headerless = headerless;
    this.#headerRow = headerRow;
    this.#visibleOnly = visibleOnly;
    this.#onRecord = onRecord;
  }

  take(row: SheetRow): void {
    const isHeader = this.columns.length === 0 && !this.#headerless;
    if (isBlank(row, isHeader) || row.number < this.#headerRow) return;
    if (row.hidden && !isHeader) {
      this.hiddenRows += 1;
      if (this.#visibleOnly) return;
    }
    if (this.columns.length === 0) this.#begin(row);
    const record = new Array<string>(this.columns.length).fill('');
    let faults: CellError[] | null = null;
    const stored = this.#stored;
    if (stored.size > 0) stored.clear();
    for (let at = 0; at < row.columns.length; at += 1) {
      const column = row.columns[at] ?? 0;
      const held = row.stored.get(at);
      const isHidden = row.covered.has(at);
      // A column's name is its stored value, even if the header shows something else.
      const value = (isHeader ? held : undefined) ?? row.values[at] ?? '';
      const field = this.#fields[column] ?? -1;
      if (isHidden && field === -1) continue;
      if (column < (this.columns[0] ?? 0) && !this.#headerless) {
        if (value.trim() !== '') this.indexes.add(column);
        continue;
      }
      if (held !== undefined && field !== -1) stored.set(field, held);
      if (field !== -1) record[field] = value;
      else if (value.trim() === '') continue;
      else record.push(value);
      if (isHidden && value.trim() !== '') {
        faults ??= [];
        faults.push({ field, letters: columnLetters(column), error: hiddenValue(value), isHidden });
        continue;
      }
      const error = row.faults.get(at) ?? (field !== -1 ? undefined : this.#headerless ? outside : noName);
      if (error === undefined) continue;
      faults ??= [];
      faults.push({ field: field === -1 ? null : field, letters: columnLetters(column), error });
    }
    this.#onRecord(record, row.number, faults ?? none, stored);
  }

  #begin(row: SheetRow): void {
    const filled = row.columns.filter((_, at) => heldAt(row, at, !this.#headerless) !== '');
    const [first = 0, last = first] = [filled[0], filled.at(-1)];
    this.columns = this.#headerless
      ? Array.from({ length: last - first + 1 }, (_, index) => first + index)
      : filled;
    this.#fields = new Int16Array(last + 1).fill(-1);
    this.columns.forEach((column, field) => {
      this.#fields[column] = field;
    });
  }
}

/** In a header, a hidden cell is empty: it names no column. */
const heldAt = ({ values, stored, covered }: SheetRow, at: number, isHeader: boolean) =>
  isHeader && covered.has(at) ? '' : (stored.get(at) ?? values[at] ?? '').trim();
const isBlank = (row: SheetRow, isHeader: boolean) =>
  row.columns.every((_, at) => heldAt(row, at, isHeader) === '');
