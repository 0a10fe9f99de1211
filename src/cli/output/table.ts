import Table from 'cli-table3';
import { visible } from '../terminal/sanitise.js';
import { takesOneColumnEach, widthFor } from '../terminal/width.js';
import { card, painted, type TableStyle } from './card.js';
import { shown } from './cells.js';
import type { Column } from './view.js';

const gap = '  ';
const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
    [side, ''],
    ...['left', 'mid', 'right'].map((corner) => [`${side}-${corner}`, '']),
  ]),
);

/** cli-table3 takes quadratic time, so it gets few rows at a time. */
const rowsAtOnce = 100;

/** Aligned columns, or cards where these do not fit the terminal. */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const names = columns.map(({ name }) => visible(name.toUpperCase().replaceAll('_', ' ')));
  const header = style.header && rows.length > 0 ? [names] : [];
  const cells = rows.map((row) => columns.map((column) => visible(shown(column, row, style.mask))));
  const width = await widthFor(cells.flat());
  const widths = columns.map((_, index) =>
    [...header, ...cells].reduce((most, row) => Math.max(most, width(row[index] ?? '')), 0),
  );
  const total = widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
  if (style.width !== null && total > style.width) {
    return (await Promise.all(rows.map((row) => card(columns, row, style)))).join('\n');
  }
  const placeholders = new Placeholders(width);
  const lines = [
    ...header.map((row) => row.map((name) => style.paint('bold', name))),
    ...cells.map((row) =>
      row.map((cell, index) => painted(columns[index], cell, placeholders.of(cell), style)),
    ),
  ];
  const aligned: string[] = [];
  for (let at = 0; at < lines.length; at += rowsAtOnce) {
    aligned.push(align(columns, widths, lines.slice(at, at + rowsAtOnce)));
  }
  return placeholders.resolve(aligned.join(''));
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
  readonly #width: (text: string) => number;
  readonly #texts: string[] = [];

  constructor(width: (text: string) => number) {
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
