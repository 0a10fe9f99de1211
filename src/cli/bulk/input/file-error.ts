import { fileName, InputError, type InputErrorKind } from './input-error.js';

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
