/**
 * Texts by key, as JSON for `json_each`. The object is flat, because SQLite parses a nested array or object again for
 * every value read from it. Keys may repeat.
 */
export function jsonObject<Item>(
  items: readonly Item[],
  entryOf: (item: Item) => readonly [key: string, value: string],
): string {
  let json = '{';
  for (const item of items) {
    const [key, value] = entryOf(item);
    json += `${json === '{' ? '' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`;
  }
  return `${json}}`;
}
