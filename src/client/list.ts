import type { Page, PageOptions } from '../contract/index.js';
import { queryOf } from './arguments.js';
import { type Extension, readCall } from './call.js';
import { UrtuuError } from './error.js';
import { isObject } from './json.js';
import { isPage } from './transport/proof.js';
import type { RequestSender } from './transport/request.js';

/**
 * A list: `await` reads one page, `for await` reads all items, page by page, from the first. Nothing is requested
 * until then. Each page is one call, with its own retries.
 *
 * ```ts
 * const { data, next } = await client.messages.list({ status: 'failed', limit: 50 });
 * for await (const message of client.messages.list({ status: 'failed' })) console.log(message.id);
 * ```
 */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

/**
 * GET requests that read a list.
 * @internal
 */
export interface ListRequest {
  /** Throws for a malformed id. */
  path: () => string;
  /** Fields of the filter, besides those of a page. */
  fields: readonly string[];
  filter: unknown;
  options: unknown;
  extension: Extension;
}

/**
 * Invalid arguments reject, as those of every method do.
 * @internal
 */
export function listOf<Item>(request: RequestSender, list: ListRequest): List<Item> {
  const { path, options, extension } = list;
  const names = [...list.fields, ...pageFields];
  // A copy: the caller may change the filter before the next page.
  const filter = isObject(list.filter) ? { ...list.filter } : list.filter;
  return new LazyList<Item>(async (after) => {
    const query = queryOf(isObject(filter) && after !== null ? { ...filter, after } : filter, names);
    return request({ ...readCall(path() + query, isPage, options), extension });
  });
}

const pageFields: readonly (keyof PageOptions)[] = ['limit', 'after'];

class LazyList<Item> implements List<Item> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #readPage: (after: string | null) => Promise<Page<Item>>;
  #first: Promise<Page<Item>> | null = null;

  constructor(readPage: (after: string | null) => Promise<Page<Item>>) {
    this.#readPage = readPage;
  }

  // biome-ignore lint/suspicious/noThenProperty: a list can be awaited
  then<Result = Page<Item>, Failure = never>(
    fulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#page().then(fulfilled, rejected);
  }

  catch<Failure = never>(
    rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.#page().catch(rejected);
  }

  finally(run?: (() => void) | null): Promise<Page<Item>> {
    return this.#page().finally(run);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const seen = new Set<string | null>();
    let after: string | null = null;
    do {
      seen.add(after);
      const page: Page<Item> = await this.#readPage(after);
      yield* page.data;
      after = page.next;
      if (after !== null && seen.has(after)) throw repeatedPage();
    } while (after !== null);
  }

  #page(): Promise<Page<Item>> {
    this.#first ??= this.#readPage(null);
    return this.#first;
  }
}

/** From a service, or a cache in front of it, that ignores `after`. */
function repeatedPage(): UrtuuError {
  const message = 'the service keeps returning the same page';
  return new UrtuuError({ code: 'unexpected_response', message, status: 200, retryAfter: null });
}
