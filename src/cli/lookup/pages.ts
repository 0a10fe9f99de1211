import { messagePage, type Page, type PageOptions } from '../../contract/index.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/** Reads a page, newest first; `since` replaces the list's start time. */
export type ReadPage<Item> = (page: PageOptions & { since?: string | undefined }) => Promise<Page<Item>>;

/** Pages of a list with at most `wanted` items in total. Throws CliError if the service returns one twice. */
export async function* pages<Item>(
  read: ReadPage<Item>,
  wanted: number,
  since?: string,
): AsyncGenerator<Page<Item>, void> {
  const seen = new Set<string>();
  const limit = Math.min(wanted, messagePage.max);
  for (let after: string | undefined; ; ) {
    const page: Page<Item> = await read({ limit, after, since });
    yield page;
    if (page.next === null) return;
    after = page.next;
    if (seen.has(after)) throw repeatedPage();
    seen.add(after);
  }
}

/** From a service, or a cache in front of it, that ignores `after`. */
function repeatedPage(): CliError {
  return new CliError('unexpected_response', exits.later, 'the service keeps returning the same page', {
    hint: 'A proxy, or a cache in front of the service, may ignore the query; see: `urtuu doctor`',
  });
}
