import { visible } from '../terminal/sanitise.js';
import { type Width, widthFor } from '../terminal/width.js';
import { lineWrapper } from '../terminal/wrap.js';
import { align } from './align.js';
import { card, painted, type TableStyle } from './card.js';
import { shown } from './cells.js';
import { extentOf, fittedWidths, totalWidth } from './fit.js';
import type { Column } from './view.js';

/** Maximum lines of a row; a longer text ends with an ellipsis. */
const maxLines = 5;
const ellipsis = ' …';

/** Aligned columns, wrapped to the terminal's width; cards if they still do not fit. */
export async function table<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const columns = all.filter(({ ifAny, value }) => !ifAny || rows.some((row) => (value(row) ?? '') !== ''));
  const cellOf = (column: Column<Row>, row: Row) =>
    style.width !== null && column.short !== undefined ? column.short(row) : shown(column, row, style.mask);
  const cells = rows.map((row) => columns.map((column) => visible(cellOf(column, row))));
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
    (cell, row, column) =>
      row < header.length ? style.paint('bold', cell) : painted(shownColumns[column], cell, cell, style),
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

/**
 * If not all columns fit, empty ones are dropped, then texts are wrapped, then spare columns are dropped from the
 * end, then times are wrapped. Null if the rows need cards.
 */
function layout<Row>(
  columns: readonly Column<Row>[],
  cells: readonly string[][],
  width: Width,
  style: TableStyle,
): Fitted | null {
  const room = style.width ?? Infinity;
  const all = columns.map((_, index) => index);
  const extents = (kinds: readonly Column<Row>['kind'][]) =>
    columns.map((column, index) => {
      const texts = cells.map((row) => row[index] ?? '');
      const title = style.header && cells.length > 0 ? width(titleOf(column)) : 0;
      // Only a word at the end of a row that leaves little room for the others may run over.
      const longest = index === columns.length - 1 ? room / 2 : Infinity;
      return extentOf(texts, title, width, style.width !== null && kinds.includes(column.kind), longest);
    });
  const used = all.filter((index) => cells.some((row) => row[index] !== ''));
  const texts = extents([undefined, 'recipient']);
  for (const kept of [all, used]) {
    const widths = kept.flatMap((index) => texts[index]?.width ?? []);
    if (totalWidth(widths) <= room) return { kept, widths, wraps: false };
  }
  const spare = used.filter((index) => columns[index]?.spare);
  for (const known of [texts, extents([undefined, 'recipient', 'time'])]) {
    for (let count = spare.length; count >= 0; count -= 1) {
      const kept = used.filter((index) => !spare.slice(count).includes(index));
      const widths = fittedWidths(
        kept.flatMap((index) => known[index] ?? []),
        room,
      );
      if (widths !== null) return { kept, widths, wraps: true };
    }
  }
  return null;
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
