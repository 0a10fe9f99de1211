import type { PlainAnswer, PlainRequest } from '../service.js';
import type { App } from './app.js';
import { readText } from './body/read-body.js';
import type { PlainExchange } from './context.js';

/** Hands a request to the app as it is; rejects only where a fault on demand drops the connection. */
export function exchangeWith(app: App) {
  return async ({ method, url, headers, body = '' }: PlainRequest): Promise<PlainAnswer> => {
    const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    // What the app reads of a Request when its body comes by another way.
    const request = {
      method,
      url,
      headers: { get: (name: string) => byName.get(name.toLowerCase()) ?? null },
    };
    const plain: PlainExchange = { readBody: () => readText(body), placeholder: {} as Response };
    await app.fetch(request as Request, { plain });
    if (plain.answer === undefined) throw new Error(`${method} ${url} was not answered`);
    return { ...plain.answer, body: plain.answer.body.toString() };
  };
}
