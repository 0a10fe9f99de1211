/** Columns of files that `urtuu` writes itself; they are read back without the guard. */
const ownColumns = [
  ['line', 'error'],
  ['message_id', 'batch_id', 'status', 'error_code', 'credits', 'line'],
];

/** Whether a header ends in the columns of a report or a rejects file. */
export function isOwnHeader(columns: readonly string[]): boolean {
  return ownColumns.some((own) => own.join() === columns.slice(-own.length).join());
}

/** The columns of the input that a report or rejects file keeps: all but those it writes anew. */
export function keptColumns(columns: readonly string[], added: readonly string[]): number[] {
  return columns.flatMap((name, index) => (added.includes(name) ? [] : [index]));
}
