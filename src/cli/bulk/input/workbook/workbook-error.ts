/** The workbook as a whole cannot be read. The message goes on after the file's name: `is damaged: ...`. */
export class WorkbookError extends Error {
  override readonly name = 'WorkbookError';
  /** One line: the way out. */
  readonly hint: string;
  /** The sheets to choose from; empty where a choice does not help. */
  readonly sheets: readonly string[];

  constructor(what: string, hint: string, sheets: readonly string[] = []) {
    super(what);
    this.hint = hint;
    this.sheets = sheets;
  }
}

export const saveAgain = 'Save it again as .xlsx, or as CSV (UTF-8).';

export function damaged(detail: string): WorkbookError {
  return new WorkbookError(`is damaged: ${detail}`, saveAgain);
}
