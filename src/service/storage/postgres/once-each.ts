/**
 * Writes no message twice with one statement: of two items of one, each by itself is fenced by the other. Numbers that
 * a failover gives again make two of strangers, too.
 */
export async function onceEach<Item extends { seq: number }, Result>(
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let left = [...items.keys()]; left.length > 0; ) {
    const firsts = new Map<number, number>();
    const others = left.filter((index) => {
      const { seq } = items[index] as Item;
      if (firsts.has(seq)) return true;
      firsts.set(seq, index);
      return false;
    });
    const written = [...firsts.values()];
    const given = await write(written.map((index) => items[index] as Item));
    for (const [place, index] of written.entries()) results[index] = given[place] as Result;
    left = others;
  }
  return results;
}
