/** Column index of `B` or `B7`: 0 for A. -1 for anything else. */
export function columnOf(reference: string): number {
  let column = 0;
  let at = 0;
  for (; at < reference.length; at += 1) {
    const letter = reference.charCodeAt(at) - 0x40;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return at > 3 ? -1 : column - 1;
}

/** The letters of a column: A for 0. */
export function columnLetters(column: number): string {
  const letter = String.fromCharCode(0x41 + (column % 26));
  return column < 26 ? letter : columnLetters(Math.floor(column / 26) - 1) + letter;
}
