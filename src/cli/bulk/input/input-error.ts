/** What about the input is wrong; the command maps every one of them to the exit code for input. */
export type InputFault = 'encoding' | 'delimiter' | 'columns' | 'template' | 'csv' | 'empty';

export interface Place {
  /** Line of the file where the row begins, as an editor counts. */
  line?: number | undefined;
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
export function describe(source: string, what: string, { line, column }: Place): string {
  const file = source === '-' ? 'standard input' : source;
  return [
    line === undefined ? file : `${file}:${line}`,
    ...(column === undefined ? [] : [column]),
    what,
  ].join(': ');
}

/** A value as an error message shows it: quoted, and cut where it is long. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}
