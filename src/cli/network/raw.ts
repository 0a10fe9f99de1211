import type { FetchLike } from '../../client/index.js';
import type { Redactor } from '../../client/secret.js';

/** An answer as received, without the API key. */
export interface RawAnswer {
  status: number;
  /** Null if absent. */
  header(name: string): string | null;
  /** As much of the body as was read. */
  body(): string;
}

/** A fetch that adds headers, and keeps the last answer. */
export function recorded(
  fetch: FetchLike,
  headers: Readonly<Record<string, string>>,
  redactor: Redactor,
): { fetch: FetchLike; newest(): RawAnswer | null } {
  let newest: RawAnswer | null = null;
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return {
    newest: () => newest,
    async fetch(url, init) {
      newest = null;
      const own = Object.entries(init.headers).filter(([name]) => !names.includes(name.toLowerCase()));
      const response = await fetch(url, { ...init, headers: { ...Object.fromEntries(own), ...headers } });
      const blocks: Uint8Array[] = [];
      newest = {
        status: response.status,
        header(name) {
          const value = response.headers.get(name);
          return value === null ? null : redactor.text(value);
        },
        body: () => redactor.text(Buffer.concat(blocks).toString('utf8')),
      };
      const { body } = response;
      return body === null
        ? response
        : { ...response, body: kept(body as AsyncIterable<Uint8Array>, blocks) };
    },
  };
}

async function* kept(
  body: AsyncIterable<Uint8Array>,
  blocks: Uint8Array[],
): AsyncGenerator<Uint8Array, void> {
  for await (const block of body) {
    blocks.push(block);
    yield block;
  }
}
