/** A value that a spreadsheet would run as a formula, with the quotes that already guard it. */
const formula = /^'*[=+\-@\t\r]/;

/** Guards a value with a leading `'`; `unguard` undoes exactly that. */
export function guard(value: string): string {
  return formula.test(value) ? `'${value}` : value;
}

export function unguard(value: string): string {
  return value.startsWith("'") && formula.test(value.slice(1)) ? value.slice(1) : value;
}

/** One row of a CSV file that a spreadsheet may open: formula-safe, quoted where needed, ending in CRLF. */
export function csvLine(values: readonly string[]): string {
  return `${values.map((value) => quoted(guard(value))).join(',')}\r\n`;
}

function quoted(value: string): string {
  return /[",;\t|\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const firstReportColumns = ['message_id', 'batch_id', 'status', 'error_code', 'credits', 'line'];
/** What a report adds to the columns of the input. */
export const reportColumns = [...firstReportColumns, 'delivery', 'job'];

/** Columns of files that `urtuu` writes itself, or once wrote; they are read back without the guard. */
const ownColumns = [['line', 'error'], firstReportColumns, reportColumns];

/** Whether a header ends in the columns of a report or a rejects file. */
export function isOwnHeader(columns: readonly string[]): boolean {
  return ownColumns.some((own) => own.join() === columns.slice(-own.length).join());
}

/** The columns of the input that a report or rejects file keeps: all but those it writes anew. */
export function keptColumns(columns: readonly string[], added: readonly string[]): number[] {
  return columns.flatMap((name, index) => (added.includes(name) ? [] : [index]));
}
