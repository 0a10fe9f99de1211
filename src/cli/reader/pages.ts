import { messagePage, type Page, type PageOptions } from '../../contract/index.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { type Reader, type Reply, readOnce, type Unread } from './reader.js';

/** Reads a page, newest first; `since` replaces the list's start time. */
export type ReadPage<Item> = (page: PageOptions & { since?: string | undefined }) => Promise<Page<Item>>;

/** Why pages ended: nothing is left, the service returns one of them twice, or the rest could not be read. */
export type PagesEnd = 'end' | 'repeated' | Unread;

/** The pages of a list, whose items may move from one to the next while it is read. */
export async function* pagesOf<Item>(
  reader: Pick<Reader, 'read'>,
  read: (page: { limit: number; after?: string }) => PromiseLike<Page<Item>>,
  limit: number = messagePage.max,
): AsyncGenerator<Page<Item>, PagesEnd> {
  const seen = new Set<string>();
  for (let from: { after?: string } = {}; ; ) {
    const reply: Reply<Page<Item>> = await reader.read(() => read({ limit, ...from }));
    if (!('value' in reply)) return reply;
    yield reply.value;
    const { next } = reply.value;
    if (next === null) return 'end';
    if (seen.has(next)) return 'repeated';
    seen.add(next);
    from = { after: next };
  }
}

/** Pages of a list with at most `wanted` items in total. Throws the client's error, and CliError for a repeated page. */
export async function* pages<Item>(
  read: ReadPage<Item>,
  wanted: number,
  since?: string,
): AsyncGenerator<Page<Item>, void> {
  const limit = Math.min(wanted, messagePage.max);
  const end = yield* pagesOf({ read: readOnce }, (page) => read({ ...page, since }), limit);
  if (end === 'repeated') throw repeatedPage();
  if (end !== 'end') throw end.error;
}

/** From a service, or a cache in front of it, that ignores `after`. */
function repeatedPage(): CliError {
  return new CliError('unexpected_response', exits.later, 'the service keeps returning the same page', {
    hint: 'A proxy, or a cache in front of the service, may ignore the query; see: `urtuu doctor`',
  });
}
