/**
 * Texts by their keys, as JSON for `json_each`: a flat object, since SQLite parses an inner array or object again for
 * every value that is taken out of it. A key may come twice.
 */
export function jsonObject<Item>(
  items: readonly Item[],
  entryOf: (item: Item) => readonly [key: string, value: string],
): string {
  const pieces: string[] = [];
  for (const item of items) {
    const [key, value] = entryOf(item);
    pieces.push(pieces.length === 0 ? '{' : ',', JSON.stringify(key), ':', JSON.stringify(value));
  }
  return pieces.length === 0 ? '{}' : `${pieces.join('')}}`;
}
