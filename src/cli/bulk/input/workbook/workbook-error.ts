/** The workbook cannot be read. The message continues the file's name: `is damaged: ...`. */
export class WorkbookError extends Error {
  override readonly name = 'WorkbookError';
  /** One line: how to fix it. */
  readonly hint: string;
  /** The sheets to choose from; empty if a choice does not help. */
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
