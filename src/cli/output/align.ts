import Table from 'cli-table3';
import { takesOneColumnEach, type Width } from '../terminal/width.js';
import { gap } from './fit.js';

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
    [side, ''],
    ...['left', 'mid', 'right'].map((corner) => [`${side}-${corner}`, '']),
  ]),
);

/** cli-table3 takes quadratic time, so it gets only a few rows at a time. */
const rowsAtOnce = 100;

interface Alignment {
  /** Of the columns. */
  widths: readonly number[];
  alignments: readonly ('left' | 'right')[];
  width: Width;
}

/** Aligns cells of one line each; `paint` colours a cell without changing its width. */
export function align(
  rows: readonly (readonly string[])[],
  paint: (cell: string, row: number, column: number, shown: string) => string,
  { widths, alignments, width }: Alignment,
): string {
  const placeholders = new Placeholders(width);
  const painted = rows.map((cells, row) =>
    cells.map((cell, column) => paint(cell, row, column, placeholders.of(cell))),
  );
  const aligned: string[] = [];
  for (let at = 0; at < painted.length; at += rowsAtOnce) {
    const table = new Table({
      chars: { ...noBorders, middle: gap },
      colAligns: [...alignments],
      // 0 means automatic.
      colWidths: widths.map((each) => Math.max(1, each)),
      style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    });
    table.push(...painted.slice(at, at + rowsAtOnce));
    aligned.push(`${table.toString().replace(/(?<! ) +$/gm, '')}\n`);
  }
  return placeholders.resolve(aligned.join(''));
}

const first = '\ue000';
const further = '\ue001';

/**
 * cli-table3 uses an old Unicode to measure texts. While it aligns, texts with other widths are replaced by
 * placeholders from the private use area, and restored in order.
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
