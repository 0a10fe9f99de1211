import stringWidth from 'string-width';

/** Latin, Cyrillic and what else takes exactly one column a character; saves the look-up for nearly all text. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f]*$/;

/** Columns a text takes on a terminal. */
export function width(text: string): number {
  return simple.test(text) ? text.length : stringWidth(text);
}

export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'right' ? space + text : text + space;
}
