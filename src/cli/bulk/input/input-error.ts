/** Why an input cannot be planned. */
export type InputErrorKind = 'encoding' | 'delimiter' | 'columns' | 'template' | 'csv' | 'empty';

export interface Place {
  /** Line of the file on which the row begins, from 1. */
  line?: number | undefined;
  column?: string | undefined;
}

/** The whole input cannot be planned; single bad rows are rejected instead. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly kind: InputErrorKind;
  readonly source: string;
  readonly line: number | null;
  readonly column: string | null;
  /** One line: what to do about it. */
  readonly hint: string;

  constructor(kind: InputErrorKind, source: string, what: string, hint: string, place: Place = {}) {
    super(located(source, what, place));
    this.kind = kind;
    this.source = source;
    this.line = place.line ?? null;
    this.column = place.column ?? null;
    this.hint = hint;
  }
}

/** `file:line: column: what`, without the parts that are not known. */
export function located(source: string, what: string, { line, column }: Place): string {
  const file = source === '-' ? 'standard input' : source;
  return [
    line === undefined ? file : `${file}:${line}`,
    ...(column === undefined ? [] : [column]),
    what,
  ].join(': ');
}

/** A value in an error message: in quotes, cut after 40 characters. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}
