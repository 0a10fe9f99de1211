import type { PlainAnswer, PlainRequest } from '../service.js';
import type { App } from './app.js';
import { readText } from './body/read-body.js';
import type { PlainExchange } from './context.js';

/** Calls the app without web objects; rejects only when an injected fault drops the connection. */
export function exchangeWith(app: App) {
  return async ({ method, url, headers, body = '' }: PlainRequest): Promise<PlainAnswer> => {
    const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    // The app reads no more of a Request whose body is not in it.
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
