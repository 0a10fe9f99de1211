import Table from 'cli-table3';
import { visible } from '../terminal/sanitise.js';
import { takesOneColumnEach, type Width, widthFor } from '../terminal/width.js';
import { lineWrapper } from '../terminal/wrap.js';
import { card, painted, type TableStyle } from './card.js';
import { shown } from './cells.js';
import { extentOf, fittedWidths, gap, totalWidth } from './fit.js';
import type { Column } from './view.js';

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
    [side, ''],
    ...['left', 'mid', 'right'].map((corner) => [`${side}-${corner}`, '']),
  ]),
);

/** cli-table3 takes quadratic time, so it gets few rows at a time. */
const rowsAtOnce = 100;

/** Lines of a row; a longer text ends in an ellipsis. */
const maxLines = 5;
const ellipsis = ' …';

/** Aligned columns, wrapped to the terminal; cards where they still do not fit. */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const cells = rows.map((row) => columns.map((column) => visible(shown(column, row, style.mask))));
  const width = await widthFor(cells.flat());
  const fitted = layout(columns, cells, width, style);
  if (fitted === null) return (await Promise.all(rows.map((row) => card(columns, row, style)))).join('\n');
  const { kept, widths } = fitted;
  const placeholders = new Placeholders(width);
  const shownColumns = kept.flatMap((index) => columns[index] ?? []);
  const header = style.header && rows.length > 0 ? [shownColumns.map(titleOf)] : [];
  const chosen = cells.map((row) => kept.map((index) => row[index] ?? ''));
  const body = fitted.wraps ? await wrapped(chosen, widths, width) : chosen;
  const lines = [
    ...header.map((row) => row.map((name) => style.paint('bold', name))),
    ...body.map((row) =>
      row.map((cell, index) => painted(shownColumns[index], cell, placeholders.of(cell), style)),
    ),
  ];
  const aligned: string[] = [];
  for (let at = 0; at < lines.length; at += rowsAtOnce) {
    aligned.push(align(shownColumns, widths, lines.slice(at, at + rowsAtOnce)));
  }
  return placeholders.resolve(aligned.join(''));
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
    const title = style.header && cells.length > 0 ? titleOf(column).length : 0;
    const wraps = style.width !== null && column.kind === undefined;
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

function align<Row>(columns: readonly Column<Row>[], widths: number[], rows: string[][]): string {
  const aligned = new Table({
    chars: { ...noBorders, middle: gap },
    colAligns: columns.map(({ kind }) => (kind === 'number' ? 'right' : 'left')),
    // 0 means automatic.
    colWidths: widths.map((each) => Math.max(1, each)),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
  });
  aligned.push(...rows);
  return `${aligned.toString().replace(/ +$/gm, '')}\n`;
}

const first = '\ue000';
const further = '\ue001';

/**
 * cli-table3 measures texts by an old Unicode. Texts with other widths are replaced by placeholders of the private use
 * area while it aligns, and put back in order.
 */
class Placeholders {
  readonly #width: Width;
  readonly #texts: string[] = [];

  constructor(width: Width) {
    this.#width = width;
  }

  of(text: string): string {
    if (takesOneColumnEach(text)) return text;
    const width = this.#width(text);
    if (width === 0) return '';
    this.#texts.push(text);
    return first + further.repeat(width - 1);
  }

  resolve(aligned: string): string {
    const texts = this.#texts.values();
    return aligned.replace(new RegExp(`${first}${further}*`, 'g'), () => texts.next().value ?? '');
  }
}
