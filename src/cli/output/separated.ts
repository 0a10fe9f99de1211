import { csvLine } from '../csv/line.js';
import { visible } from '../terminal/sanitise.js';
import { written } from './cells.js';
import type { Column } from './view.js';

export interface SeparatedStyle {
  mask: boolean;
  /** A terminal reads it: unsafe characters become visible. */
  terminal: boolean;
}

/** TSV fields have \t and \n in place of tabs and line ends. */
function tsvLine(fields: readonly string[]): string {
  return `${fields.map(visible).join('\t')}\n`;
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
  if (format === 'tsv') return tsvLine(fields);
  return terminal ? csvLine(fields.map(visible)).replace(/\r\n$/, '\n') : csvLine(fields);
}
