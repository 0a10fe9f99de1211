import type { Width } from '../terminal/width.js';
import { betweenWords } from '../terminal/wrap.js';

export const gap = '  ';

/** A column narrower than this is hard to read. */
const minWrapped = 10;

/** The width of a column's texts, and how narrow they may be wrapped. */
export interface Extent {
  width: number;
  min: number;
}

/**
 * For the texts of a column and its title. Words are kept whole, so that they can be copied; one longer than
 * `longest` may run over.
 */
export function extentOf(
  texts: readonly string[],
  title: number,
  width: Width,
  wraps: boolean,
  longest: number,
): Extent {
  const widest = Math.max(title, mostOf(texts, width));
  if (!wraps || !texts.some((text) => text.includes(' '))) return { width: widest, min: widest };
  const words = texts.flatMap((text) => text.split(betweenWords)).filter((word) => width(word) <= longest);
  return { width: widest, min: Math.min(widest, Math.max(minWrapped, title, mostOf(words, width))) };
}

const mostOf = (texts: readonly string[], width: Width) =>
  texts.reduce((most, text) => Math.max(most, width(text)), 0);

/** Narrows the widest columns, or of equally wide ones the last, until all fit; null if they cannot. */
export function fittedWidths(extents: readonly Extent[], room: number): number[] | null {
  const widths = extents.map(({ width }) => width);
  let excess = totalWidth(widths) - room;
  while (excess > 0) {
    const spare = widths.map((width, index) => (width > (extents[index]?.min ?? width) ? width : 0));
    const widest = Math.max(0, ...spare);
    if (widest === 0) return null;
    const at = spare.lastIndexOf(widest);
    const next = Math.max(0, ...spare.filter((_, index) => index !== at));
    const target = Math.max(extents[at]?.min ?? 0, Math.min(widest - 1, next), widest - excess);
    widths[at] = target;
    excess -= widest - target;
  }
  return widths;
}

export const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
