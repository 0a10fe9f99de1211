/** The columns of reports by earlier releases. */
const earlierReportColumns = ['message_id', 'batch_id', 'status', 'error_code', 'credits', 'line'];
/** The columns a report adds to those of the input. */
export const reportColumns = [...earlierReportColumns, 'delivery', 'job'];
/** The columns a rejects file adds. */
export const rejectsColumns = ['line', 'error'];

const ownColumns = [rejectsColumns, earlierReportColumns, reportColumns];

/** Whether a header is from a report or a rejects file, whose fields are guarded against formulas. */
export function isOwnHeader(columns: readonly string[]): boolean {
  return ownColumns.some((own) => own.join() === columns.slice(-own.length).join());
}

/** Indexes of the input columns that a report or rejects file keeps: all except those that it replaces. */
export function keptColumns(columns: readonly string[], added: readonly string[]): number[] {
  return columns.flatMap((name, index) => (added.includes(name) ? [] : [index]));
}

/** Index of the column with a row's errors, in a report or rejects file. */
export function errorColumn(columns: readonly string[]): number {
  const last = columns.length - 1;
  return columns[last] === rejectsColumns.at(-1) ? last : columns.lastIndexOf('error_code');
}
