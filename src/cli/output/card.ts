import type { Paint, Style } from '../terminal/colour.js';
import { visible } from '../terminal/sanitise.js';
import { unbroken, wrapper } from '../terminal/wrap.js';
import { shown } from './cells.js';
import type { Column } from './view.js';

export interface TableStyle {
  paint: Paint;
  header: boolean;
  /** Columns of the terminal; null for a pipe, which has no width. */
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
  let text = '';
  for (const { column, label, value } of entries) {
    const isBelow = goesBelow(value, style.width ?? Infinity, indent);
    const left = isBelow ? gap.length : indent;
    const body = painted(column, value, wrap(value, (style.width ?? 0) - left, left), style);
    const title = style.paint('bold', isBelow ? label : label.padEnd(indent - gap.length));
    text += `${title}${isBelow ? `\n${gap}` : gap}${body}\n`;
  }
  return text;
}

/** Whether an id is printed on a line of its own, because a narrow terminal would break it beside its name. */
function goesBelow(value: string, width: number, indent: number): boolean {
  const longest = Math.max(...value.split(' ').map((word) => word.length));
  return longest > width - indent && longest <= width - gap.length;
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
