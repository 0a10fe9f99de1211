import { visible } from '../terminal/sanitise.js';
import { written } from './cells.js';
import type { Column } from './view.js';

export interface SeparatedStyle {
  mask: boolean;
  /** A terminal reads it, not a program: what could hurt it becomes visible. */
  terminal: boolean;
}

/** One field of a CSV file. A text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvField(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(?:\.\d+)?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

/** Tabs and line ends cannot stand in a TSV field, so they are written as \t and \n. */
export function tsvLine(fields: readonly string[]): string {
  return `${fields.map(visible).join('\t')}\n`;
}

export function separatedRow<Row>(
  format: 'csv' | 'tsv',
  columns: readonly Column<Row>[],
  row: Row,
  style: SeparatedStyle,
): string {
  const fields = columns.map((column) => written(column, row, style.mask));
  if (format === 'tsv') return tsvLine(fields);
  return csvLine(style.terminal ? fields.map(visible) : fields);
}
