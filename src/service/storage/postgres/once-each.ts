/**
 * Writes no message twice in one statement: each of two items of one message would be fenced by the other. Numbers
 * reused after a failover can also make two different messages look like one.
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
