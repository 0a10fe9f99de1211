/** Latin, Cyrillic and what else takes exactly one column a character; saves the look-up for nearly all text. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f]*$/;

export const takesOneColumnEach = (text: string): boolean => simple.test(text);

/** Columns a text takes on a terminal. */
export type Width = (text: string) => number;

/** How wide these texts are; the tables of Unicode are loaded only when one of them needs it. */
export async function widthFor(texts: readonly string[]): Promise<Width> {
  if (texts.every(takesOneColumnEach)) return (text) => text.length;
  const { default: stringWidth } = await import('string-width');
  return (text) => (takesOneColumnEach(text) ? text.length : stringWidth(text));
}
