import type { Width } from '../terminal/width.js';
import { gap } from './fit.js';

interface Alignment {
  /** Of the columns. */
  widths: readonly number[];
  alignments: readonly ('left' | 'right')[];
  width: Width;
}

/** Aligns cells of one line each; `paint` colours a cell without changing its width. */
export function align(
  rows: readonly (readonly string[])[],
  paint: (cell: string, row: number, column: number) => string,
  { widths, alignments, width }: Alignment,
): string {
  const filled = (cell: string, row: number, column: number) => {
    const blanks = ' '.repeat(Math.max(0, Math.max(1, widths[column] ?? 0) - width(cell)));
    const shown = paint(cell, row, column);
    return alignments[column] === 'right' ? blanks + shown : shown + blanks;
  };
  return rows
    .map((cells, row) => cells.map((cell, column) => filled(cell, row, column)).join(gap))
    .map((line) => `${line.replace(/(?<! ) +$/, '')}\n`)
    .join('');
}
