import type { Paint, Style } from '../terminal/colour.js';
import { visible } from '../terminal/sanitise.js';
import { unbroken, wrapper } from '../terminal/wrap.js';
import { shown } from './cells.js';
import type { Column } from './view.js';

export interface TableStyle {
  paint: Paint;
  header: boolean;
  /** Columns of the terminal; null on a pipe, which has any width. */
  width: number | null;
  mask: boolean;
}

const gap = '  ';

const statusStyles: Readonly<Record<string, Style>> = {
  sent: 'green',
  completed: 'green',
  verified: 'green',
  finished: 'green',
  ok: 'green',
  queued: 'yellow',
  processing: 'yellow',
  pending: 'yellow',
  unfinished: 'yellow',
  warning: 'yellow',
  failed: 'red',
  expired: 'red',
  not_found: 'red',
};

/** One row as `name  value` lines, without empty values. */
export async function card<Row>(
  columns: readonly Column<Row>[],
  row: Row,
  style: TableStyle,
): Promise<string> {
  const entries = columns
    .map((column) => ({
      column,
      label: visible(column.name.replaceAll('_', ' ')),
      value: visible(shown(column, row, style.mask)),
    }))
    .filter(({ value }) => value !== '');
  const indent = Math.max(0, ...entries.map(({ label }) => label.length)) + gap.length;
  const wrap = style.width === null ? unbroken : await wrapper();
  const room = (style.width ?? 0) - indent;
  let text = '';
  for (const { column, label, value } of entries) {
    const body = painted(column, value, wrap(value, room, indent), style);
    text += `${style.paint('bold', label.padEnd(indent - gap.length))}${gap}${body}\n`;
  }
  return text;
}

/** Colours a status. */
export function painted<Row>(
  column: Column<Row> | undefined,
  value: string,
  shownAs: string,
  { paint }: TableStyle,
): string {
  const style = column?.kind === 'status' ? statusStyles[value] : undefined;
  return style === undefined ? shownAs : paint(style, shownAs);
}
