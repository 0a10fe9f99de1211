import { csvLine, tsvLine } from '../../contract/csv.js';
import { visible } from '../terminal/sanitise.js';
import { written } from './cells.js';
import type { Column } from './view.js';

export interface SeparatedStyle {
  mask: boolean;
  /** Whether a terminal reads it: unsafe characters are then made visible. */
  terminal: boolean;
}

export function separatedRow<Row>(
  format: 'csv' | 'tsv',
  columns: readonly Column<Row>[],
  row: Row,
  style: SeparatedStyle,
): string {
  const fields = columns.map((column) => written(column, row, style.mask));
  return separatedLine(format, fields, style.terminal);
}

export function separatedLine(format: 'csv' | 'tsv', fields: readonly string[], terminal: boolean): string {
  const safe = terminal ? fields.map(visible) : fields;
  if (format === 'tsv') return tsvLine(safe);
  return terminal ? csvLine(safe).replace(/\r\n$/, '\n') : csvLine(safe);
}
