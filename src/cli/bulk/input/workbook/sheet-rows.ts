import { columnLetters, columnOf } from '../../../xlsx/cell-reference.js';
import { errorValue, noStoredValue } from '../cell-error.js';
import type { CellFormat, Styles } from './cell-format.js';
import { exactDigits, serialOfIso, unescapeText } from './cell-value.js';
import { type MergedCells, mostColumns, mostRows } from './merged-cells.js';
import { longestText, type SharedStrings } from './shared-strings.js';
import { damaged } from './workbook-error.js';
import type { Attribute, XmlHandler } from './xml.js';

/** A row with at least one cell that is not empty; the object is reused for the next row. */
export interface SheetRow {
  /** 1 for the first row of the sheet. */
  number: number;
  hidden: boolean;
  /** Ascending column indexes, 0 for A, and the text shown in each cell. */
  columns: number[];
  values: string[];
  /** Stored values that differ from the text shown, by their index in `columns`: a number has all its digits. */
  stored: Map<number, string>;
  /** Errors of cells, by their index in `columns`. */
  faults: Map<number, string>;
  /** The cells that merged cells hide, by their index in `columns`. */
  covered: Set<number>;
}

export interface CellRules {
  strings: SharedStrings;
  styles: Styles;
  from1904: boolean;
  merged: MergedCells;
}

const daysTo1904 = 1_462;
const lastDay = 2_958_465;

/** Splits the XML of a sheet into rows. Throws WorkbookError if it contradicts itself. */
export class SheetRows implements XmlHandler {
  readonly #part: string;
  readonly #rules: CellRules;
  readonly #onRow: (row: SheetRow) => void;
  readonly #row: SheetRow = {
    number: 0,
    hidden: false,
    columns: [],
    values: [],
    stored: new Map(),
    faults: new Map(),
    covered: new Set(),
  };
  #column = -1;
  #type = 'n';
  #style = 0;
  #text = '';
  #formula: string | null = null;
  #fault: string | null = null;
  #stored: string | null = null;
  /** Where the next characters go. */
  #into: 'value' | 'formula' | null = null;
  /** Whether the cell has a `v` or an `is`. */
  #hasValue = false;
  #isInline = false;

  constructor(part: string, rules: CellRules, onRow: (row: SheetRow) => void) {
    this.#part = part;
    this.#rules = rules;
    this.#onRow = onRow;
  }

  open(name: string, attribute: Attribute, parent: string): void {
    if (name === 'c' && parent === 'row') this.#openCell(attribute);
    else if (name === 'row' && parent === 'sheetData') this.#openRow(attribute);
    else if (name === 't') {
      if (isText(parent)) this.#into = 'value';
    } else if (parent === 'c') this.#openPart(name);
  }

  #openPart(name: string): void {
    if (name === 'is') {
      // Beside it, some programs also write the text as a value.
      if (this.#type === 'inlineStr' && !this.#isInline) [this.#text, this.#hasValue] = ['', false];
      this.#isInline = true;
      this.#beginValue();
    } else if (name === 'v') {
      if (this.#type === 'inlineStr' && this.#isInline) return;
      this.#beginValue();
      this.#into = 'value';
    } else if (name === 'f') {
      this.#into = 'formula';
      this.#formula = '';
    }
  }

  text(value: string): void {
    if (this.#into === 'value') this.#text += value;
    else if (this.#into === 'formula') this.#formula += value;
    else return;
    if (this.#text.length + (this.#formula?.length ?? 0) > longestText) throw this.#damaged('is too long');
  }

  close(name: string, parent: string): void {
    if (name === 'v' || name === 't' || name === 'f') this.#into = null;
    else if (name === 'c' && parent === 'row') this.#closeCell();
    else if (name === 'row' && parent === 'sheetData') {
      if (this.#row.columns.length > 0) this.#onRow(this.#row);
    }
  }

  #openRow(attribute: Attribute): void {
    const row = this.#row;
    const written = attribute('r');
    const number = written === undefined ? row.number + 1 : Number(written);
    if (!(Number.isInteger(number) && number > row.number && number <= mostRows)) {
      throw damaged(`${this.#part} has row ${written ?? number} after row ${row.number}`);
    }
    row.number = number;
    row.hidden = isOn(attribute('hidden'));
    row.columns.length = 0;
    row.values.length = 0;
    if (row.stored.size > 0) row.stored.clear();
    if (row.faults.size > 0) row.faults.clear();
    if (row.covered.size > 0) row.covered.clear();
    this.#column = -1;
  }

  #openCell(attribute: Attribute): void {
    const reference = attribute('r');
    const column = reference === undefined ? this.#column + 1 : this.#columnIn(reference);
    if (column <= this.#column || column >= mostColumns) {
      throw damaged(`${this.#part} has cell ${reference ?? columnLetters(column)} out of order`);
    }
    this.#column = column;
    this.#type = attribute('t') ?? 'n';
    this.#style = Number(attribute('s') ?? 0);
    this.#text = '';
    this.#formula = null;
    this.#hasValue = false;
    this.#isInline = false;
  }

  /** Two values would be joined into one: 9911 and 2233 into 99112233. */
  #beginValue(): void {
    if (this.#hasValue) throw this.#damaged('has two values');
    this.#hasValue = true;
  }

  #columnIn(reference: string): number {
    const column = columnOf(reference);
    if (column === -1 || reference !== columnLetters(column) + this.#row.number) {
      throw damaged(`${this.#part} has cell ${reference} in row ${this.#row.number}`);
    }
    return column;
  }

  #closeCell(): void {
    this.#fault = null;
    this.#stored = null;
    const value = this.#text === '' ? this.#withoutValue() : this.#valueOf(this.#text);
    const { number, columns, values, stored, faults, covered } = this.#row;
    if (this.#fault !== null) faults.set(columns.length, this.#fault);
    if (this.#stored !== null) stored.set(columns.length, this.#stored);
    else if (value === '') return;
    if (this.#rules.merged.hides(number, this.#column)) covered.add(columns.length);
    columns.push(this.#column);
    values.push(value);
  }

  /** A formula without a value is not an empty cell. Its text is kept, so that the row does not look empty. */
  #withoutValue(): string {
    if (this.#formula === null || this.#type === 'str') return '';
    this.#fault = noStoredValue;
    return `=${this.#formula}`;
  }

  #valueOf(written: string): string {
    switch (this.#type) {
      case 'n':
        return this.#number(written.trim());
      case 's':
        return this.#formatted(this.#shared(written));
      case 'str':
      case 'inlineStr':
        return this.#formatted(unescapeText(written));
      case 'b':
        return isOn(written) ? 'TRUE' : 'FALSE';
      case 'e':
        this.#fault = errorValue(written);
        return written;
      case 'd':
        return this.#isoDate(written);
      default:
        throw this.#damaged(`has the unknown type ${this.#type}`);
    }
  }

  #number(written: string): string {
    const digits = exactDigits(written);
    if (digits === null) throw this.#damaged(`is not a number: ${written.slice(0, 40)}`);
    const format = this.#format;
    if (format === null) return digits;
    const days = format.isCalendar && this.#rules.from1904 ? daysTo1904 : 0;
    return this.#shown(format, Number(written) + days, digits);
  }

  #isoDate(written: string): string {
    const serial = serialOfIso(written);
    if (serial === null) throw this.#damaged(`is not a date: ${written.slice(0, 40)}`);
    const plain = written.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '').replace('T', ' ');
    const format = this.#format;
    return format?.isDate ? this.#shown(format, serial, plain) : plain;
  }

  get #format() {
    return this.#rules.styles.of(this.#style);
  }

  #shown(format: CellFormat, value: number, plain: string): string {
    const shown = format.number(value, plain);
    if (!format.isDate) return this.#keep(plain, shown ?? plain);
    // A phone number, which no date reaches, is read as it is stored if it is the recipient.
    if (shown === null || value > lastDay) this.#stored = plain;
    if (shown === null)
      this.#fault = `${plain} has a date format, but is not a date: format it as a number or text`;
    return shown ?? plain;
  }

  #formatted(text: string): string {
    return this.#keep(text, this.#format?.text(text) ?? text);
  }

  #keep(stored: string, shown: string): string {
    if (stored !== shown) this.#stored = stored;
    return shown;
  }

  #shared(written: string): string {
    const text = /^\s*\d+\s*$/.test(written) ? this.#rules.strings.get(Number(written)) : undefined;
    if (text === undefined) throw this.#damaged(`refers to text ${written.slice(0, 40)}, which is missing`);
    return text;
  }

  #damaged(what: string) {
    return damaged(`cell ${columnLetters(this.#column)}${this.#row.number} of ${this.#part} ${what}`);
  }
}

const isOn = (written: string | undefined) => written === '1' || written === 'true';

/** Finds out whether a sheet has any rows, and reads no further. */
export class HasRows implements XmlHandler {
  done = false;

  open(name: string, _: Attribute, parent: string): void {
    if (parent === 'c') this.done ||= name === 'v' || name === 'f';
    else if (name === 't') this.done ||= isText(parent);
  }
}

/** Whether a `t` in this element has text of its cell, not of a phonetic guide. */
const isText = (parent: string) => parent === 'is' || parent === 'r';
