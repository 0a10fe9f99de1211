import type { Paint, Style } from '../terminal/colour.js';
import { visible } from '../terminal/sanitise.js';
import { takesOneColumnEach } from '../terminal/width.js';
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
/** A terminal narrower than this breaks lines by itself. */
const narrowest = 20;

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

/** One row as `name  value` lines; what the row has no value for is left out. */
export async function card<Row>(
  columns: readonly Column<Row>[],
  row: Row,
  style: TableStyle,
): Promise<string> {
  const entries = columns
    .map((column) => ({
      column,
      label: column.name.replaceAll('_', ' '),
      value: visible(shown(column, row, style.mask)),
    }))
    .filter(({ value }) => value !== '');
  const indent = Math.max(0, ...entries.map(({ label }) => label.length)) + gap.length;
  const room = style.width === null ? Number.POSITIVE_INFINITY : style.width - indent;
  let text = '';
  for (const { column, label, value } of entries) {
    const fits = room < narrowest || (takesOneColumnEach(value) ? value.length : 2 * value.length) <= room;
    const lines = fits ? value : await wrapped(value, room);
    const body = painted(column, value, lines.replaceAll('\n', `\n${' '.repeat(indent)}`), style);
    text += `${style.paint('bold', label.padEnd(indent - gap.length))}${gap}${body}\n`;
  }
  return text;
}

/** Broken between words only: an id, a command or a path stays in one piece, to be copied. */
async function wrapped(value: string, room: number): Promise<string> {
  const { wrapAnsi } = await import('fast-wrap-ansi');
  return wrapAnsi(value, room);
}

/** A cell in the colour that its value has. */
export function painted<Row>(
  column: Column<Row> | undefined,
  value: string,
  shownAs: string,
  { paint }: TableStyle,
): string {
  const style = column?.kind === 'status' ? statusStyles[value] : undefined;
  return style === undefined ? shownAs : paint(style, shownAs);
}
