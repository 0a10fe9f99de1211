export interface CellError {
  /** Index in the record; null for a cell outside the table's columns. */
  field: number | null;
  /** Letters of the sheet's column; '' in CSV. */
  letters: string;
  error: string;
}

export const errorValue = (value: string) => `${value} is an error, not a value`;
export const noStoredValue = 'the formula has no stored value: open the file in Excel and save it again';

/**
 * The cell errors in a row of a report or rejects file. Those cells had no values in their workbook; as text, they
 * would be sent. `written` is the row's own error text.
 */
export function cellErrorsLeft(
  record: readonly string[],
  columns: readonly string[],
  written: string,
): CellError[] {
  return record.flatMap((value, field) => {
    const error = value.startsWith('=') ? noStoredValue : errorValue(value);
    return written.includes(`${columns[field]}: ${error}`) ? [{ field, letters: '', error }] : [];
  });
}
