import { ServiceError } from '../errors/service-error.js';

interface Again {
  left: number;
  error: { value: unknown } | null;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Halves written again after a group failed: enough to find a few bad items among many. */
const halvesAgain = 64;

/**
 * Collects the items of one tick of the event loop and writes them in one transaction. If that fails, it finds the
 * items that cause it, so that they do not delay the others. Takes callbacks: promises would add a thousand for each
 * batch.
 */
export function coalesced<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void) => void {
  let waiting: Waiting<Item, Result>[] = [];

  async function flush(): Promise<void> {
    const group = waiting;
    waiting = [];
    await writeAll(group, { left: halvesAgain, error: null });
  }

  async function writeAll(group: readonly Waiting<Item, Result>[], again: Again): Promise<void> {
    let results: readonly Result[];
    try {
      results = await write(group.map(({ item }) => item));
    } catch (error) {
      // One error for all of them, reported once.
      again.error ??= { value: error };
      // If the store is locked or closed, every half fails.
      if (group.length === 1 || again.left <= 0 || error instanceof ServiceError) {
        for (const { reject } of group) reject(again.error.value);
        return;
      }
      again.left -= 2;
      const middle = Math.ceil(group.length / 2);
      await writeAll(group.slice(0, middle), again);
      await writeAll(group.slice(middle), again);
      return;
    }
    // Outside the try: an error in a callback must not cause a second write.
    group.forEach(({ resolve }, index) => {
      resolve(results[index] as Result);
    });
  }

  return (item, resolve, reject) => {
    waiting.push({ item, resolve, reject });
    if (waiting.length === 1) queueMicrotask(() => void flush());
  };
}
