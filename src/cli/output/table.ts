import type { Paint, Style } from '../terminal/colour.js';
import { visible } from '../terminal/sanitise.js';
import { widthFor } from '../terminal/width.js';
import { shown } from './cells.js';
import type { Column } from './view.js';

export interface TableStyle {
  paint: Paint;
  header: boolean;
  /** Columns of the terminal; null on a pipe, which takes any width. */
  width: number | null;
  mask: boolean;
}

const gap = '  ';
const statusStyles: Readonly<Record<string, Style>> = {
  sent: 'green',
  completed: 'green',
  verified: 'green',
  ok: 'green',
  queued: 'yellow',
  processing: 'yellow',
  pending: 'yellow',
  warning: 'yellow',
  failed: 'red',
  expired: 'red',
  not_found: 'red',
};

/** Rows as aligned columns; as cards where these do not fit the terminal. */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const cells = rows.map((row) => columns.map((column) => visible(shown(column, row, style.mask))));
  const header = columns.map(({ name }) => name.toUpperCase().replaceAll('_', ' '));
  const width = await widthFor(cells.flat());
  const widths = columns.map((_, index) =>
    [...(style.header ? [header] : []), ...cells].reduce(
      (most, row) => Math.max(most, width(row[index] ?? '')),
      0,
    ),
  );
  const total = widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
  if (style.width !== null && total > style.width) {
    return rows.map((row) => card(columns, row, style)).join('\n');
  }
  const line = (row: readonly string[], paint: (text: string, index: number) => string) =>
    row
      .map((cell, index) => {
        const align = columns[index]?.kind === 'number' ? 'right' : 'left';
        // Nothing follows the last column, so it needs no room to its right.
        const last = index === columns.length - 1 && align === 'left';
        const space = ' '.repeat(last ? 0 : (widths[index] ?? 0) - width(cell));
        return paint(align === 'right' ? space + cell : cell + space, index);
      })
      .join(gap)
      .trimEnd()
      .concat('\n');
  const head = style.header && rows.length > 0 ? line(header, (text) => style.paint('bold', text)) : '';
  return (
    head + cells.map((row) => line(row, (text, index) => painted(columns[index], text, style.paint))).join('')
  );
}

/** One row as `name  value` lines; what the row has no value for is left out. */
export function card<Row>(columns: readonly Column<Row>[], row: Row, style: TableStyle): string {
  const entries = columns
    .map((column) => ({ column, value: visible(shown(column, row, style.mask)) }))
    .filter(({ value }) => value !== '')
    .map(({ column, value }) => ({
      label: column.name.replaceAll('_', ' '),
      value: painted(column, value, style.paint),
    }));
  const widest = Math.max(0, ...entries.map(({ label }) => label.length));
  return entries
    .map(({ label, value }) => `${style.paint('bold', label.padEnd(widest))}${gap}${value}\n`)
    .join('');
}

function painted<Row>(column: Column<Row> | undefined, text: string, paint: Paint): string {
  const style = column?.kind === 'status' ? statusStyles[text.trim()] : undefined;
  return style === undefined ? text : paint(style, text);
}
