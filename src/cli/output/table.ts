import { visible } from '../terminal/sanitise.js';
import { type Width, widthFor } from '../terminal/width.js';
import { lineWrapper } from '../terminal/wrap.js';
import { align } from './align.js';
import { card, painted, type TableStyle } from './card.js';
import { shown } from './cells.js';
import { extentOf, fittedWidths, totalWidth } from './fit.js';
import type { Column } from './view.js';

/** Lines of a row; a longer text ends in an ellipsis. */
const maxLines = 5;
const ellipsis = ' …';

/** Aligned columns, wrapped to the terminal; cards where they still do not fit. */
export async function table<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const columns = all.filter(({ ifAny, value }) => !ifAny || rows.some((row) => (value(row) ?? '') !== ''));
  const cells = rows.map((row) => columns.map((column) => visible(shown(column, row, style.mask))));
  const width = await widthFor([...columns.map(titleOf), ...cells.flat()]);
  const fitted = layout(columns, cells, width, style);
  if (fitted === null) return (await Promise.all(rows.map((row) => card(columns, row, style)))).join('\n');
  const { kept, widths } = fitted;
  const shownColumns = kept.flatMap((index) => columns[index] ?? []);
  const chosen = cells.map((row) => kept.map((index) => row[index] ?? ''));
  const body = fitted.wraps ? await wrapped(chosen, widths, width) : chosen;
  const header = style.header && rows.length > 0 ? [shownColumns.map(titleOf)] : [];
  return align(
    [...header, ...body],
    (cell, row, column, text) =>
      row < header.length ? style.paint('bold', text) : painted(shownColumns[column], cell, text, style),
    {
      widths,
      alignments: shownColumns.map(({ kind }) => (kind === 'number' ? 'right' : 'left')),
      width,
    },
  );
}

const titleOf = <Row>({ name }: Column<Row>) => visible(name.toUpperCase().replaceAll('_', ' '));

interface Fitted {
  /** Indexes of the columns to show. */
  kept: readonly number[];
  widths: number[];
  wraps: boolean;
}

/** Empty columns go first where not all fit, then texts are wrapped. Null when the rows need cards. */
function layout<Row>(
  columns: readonly Column<Row>[],
  cells: readonly string[][],
  width: Width,
  style: TableStyle,
): Fitted | null {
  const room = style.width ?? Infinity;
  const extents = columns.map((column, index) => {
    const texts = cells.map((row) => row[index] ?? '');
    const title = style.header && cells.length > 0 ? width(titleOf(column)) : 0;
    const wraps = style.width !== null && (column.kind === undefined || column.kind === 'recipient');
    return extentOf(texts, title, width, wraps, index === columns.length - 1);
  });
  const of = (kept: readonly number[]) => kept.flatMap((index) => extents[index] ?? []);
  const all = columns.map((_, index) => index);
  const used = all.filter((index) => cells.some((row) => row[index] !== ''));
  for (const kept of [all, used]) {
    const widths = of(kept).map((each) => each.width);
    if (totalWidth(widths) <= room) return { kept, widths, wraps: false };
  }
  const widths = fittedWidths(of(used), room);
  return widths && { kept: used, widths, wraps: true };
}

/** The lines of all rows. The last width grows with a word that runs over. */
async function wrapped(rows: readonly string[][], widths: number[], width: Width): Promise<string[][]> {
  const wrap = await lineWrapper();
  const linesOf = (text: string, room: number) => {
    if (width(text) <= room) return [text];
    const lines = wrap(text, room);
    if (lines.length <= maxLines) return lines;
    const [cut = ''] = wrap(lines[maxLines - 1] ?? '', room - ellipsis.length);
    return [...lines.slice(0, maxLines - 1), cut + ellipsis];
  };
  const all = rows.flatMap((row) => {
    const cells = row.map((text, index) => linesOf(text, widths[index] ?? 0));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
  });
  const last = widths.length - 1;
  widths[last] = all.reduce((most, row) => Math.max(most, width(row[last] ?? '')), widths[last] ?? 0);
  return all;
}
