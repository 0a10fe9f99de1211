import { visible } from './repair.js';

/**
 * Why no plan can be made from an input. `file` is not a table, `sheet` needs a choice, `options` do not apply to
 * it; `exclude` is not about the list.
 */
export type InputErrorKind =
  | 'encoding'
  | 'delimiter'
  | 'columns'
  | 'template'
  | 'csv'
  | 'empty'
  | 'file'
  | 'sheet'
  | 'options'
  | 'exclude';

export interface Place {
  /** Line of the file where the row begins, from 1. */
  line?: number | undefined;
  /** Cell of a sheet, such as B7; replaces the line. */
  cell?: string | undefined;
}

/** No plan can be made from the input; single bad rows are rejected instead. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly kind: InputErrorKind;
  readonly line: number | null;
  /** One line: how to fix it. */
  hint: string;

  constructor(kind: InputErrorKind, source: string, what: string, hint: string, place: Place = {}) {
    super(located(source, what, place));
    this.kind = kind;
    this.line = place.line ?? null;
    this.hint = hint;
  }

  /** Adds another way to fix it to this error. */
  withHint(other: string): this {
    this.hint = `${this.hint} ${other}`;
    return this;
  }
}

/** An error about the whole file, which continues its name: `list.ods is an OpenDocument sheet`. */
export class FileError extends InputError {
  /** Sheets to choose from; empty if a choice does not help. */
  readonly sheets: readonly string[];

  constructor(
    kind: InputErrorKind,
    source: string,
    what: string,
    hint: string,
    sheets: readonly string[] = [],
  ) {
    super(kind, source, what, hint);
    this.message = `${fileName(source)} ${what}`;
    this.sheets = sheets;
  }
}

/** `file:line: message`, or `file: message` without a line. */
export function located(source: string, what: string, { line, cell }: Place): string {
  const place = cell ?? line;
  return `${fileName(source)}${place === undefined ? '' : `:${place}`}: ${what}`;
}

/** A value in an error message: in quotes, cut after 40 characters. */
export function quoted(value: string): string {
  return visible(JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value));
}

/** A file's name in an error. */
export const fileName = (source: string): string => (source === '-' ? 'standard input' : source);

/** A sheet's name in an error: `list.xlsx!Sheet1`. */
export const sheetName = (source: string, sheet: string): string => `${fileName(source)}!${sheet}`;
