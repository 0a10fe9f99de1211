/** Latin, Cyrillic and what else takes exactly one column a character; nearly all text. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f]*$/;

/** Columns a text takes on a terminal. */
export type Measure = (text: string) => number;

/** Measures texts. To know the widths of all characters takes longer than all else, so it waits for one of them. */
export async function measureFor(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => simple.test(text))) return (text) => text.length;
  const { default: stringWidth } = await import('string-width');
  return (text) => (simple.test(text) ? text.length : stringWidth(text));
}

/** Fills a text of `width` columns up to `columns`. */
export function pad(text: string, width: number, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - width));
  return align === 'right' ? space + text : text + space;
}
