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
