/** What about the input is wrong; the command maps every one of them to the exit code for input. */
export type InputFault =
  | 'encoding'
  | 'delimiter'
  | 'columns'
  | 'template'
  | 'csv'
  | 'empty'
  | 'file'
  | 'sheet'
  | 'options';

export interface Place {
  /** Line of the file where the row begins, as an editor counts. */
  line?: number | undefined;
  /** Cell of a sheet, such as B7; stands in the place of the line. */
  cell?: string | undefined;
  column?: string | undefined;
}

/** The input cannot be planned at all. Single bad rows are no `InputError`; they are counted and written out. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly fault: InputFault;
  readonly source: string;
  readonly line: number | null;
  readonly column: string | null;
  /** One line: what to do about it. */
  readonly hint: string;

  constructor(fault: InputFault, source: string, what: string, hint: string, place: Place = {}) {
    super(describe(source, what, place));
    this.fault = fault;
    this.source = source;
    this.line = place.line ?? null;
    this.column = place.column ?? null;
    this.hint = hint;
  }
}

/** `file:line: column: what`, leaving out what is not known. */
export function describe(source: string, what: string, { line, cell, column }: Place): string {
  const file = fileName(source);
  const place = cell ?? line;
  return [
    place === undefined ? file : `${file}:${place}`,
    ...(column === undefined ? [] : [column]),
    what,
  ].join(': ');
}

/** A value as an error message shows it: quoted, and cut where it is long. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}

/** A file as an error names it. */
export const fileName = (source: string): string => (source === '-' ? 'standard input' : source);

/** A sheet of a file as an error names it: `list.xlsx!Sheet1`. */
export const sheetName = (source: string, sheet: string): string => `${fileName(source)}!${sheet}`;
