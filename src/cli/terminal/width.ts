/** Latin, Cyrillic and other characters that take exactly one column; nearly all texts. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f]*$/;

export const takesOneColumnEach = (text: string): boolean => simple.test(text);

/** Returns the columns of a text on a terminal. */
export type Width = (text: string) => number;

/** Loads the Unicode tables only if one of the texts needs them. */
export async function widthFor(texts: readonly string[]): Promise<Width> {
  if (texts.every(takesOneColumnEach)) return (text) => text.length;
  const { default: stringWidth } = await import('string-width');
  return (text) => (takesOneColumnEach(text) ? text.length : stringWidth(text));
}
