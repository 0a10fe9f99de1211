import type { PlainAnswer, PlainRequest } from '../service.js';
import type { App } from './app.js';
import { readStream, readText } from './body/read-body.js';

/** Calls the app without a socket. Both functions reject only if an injected fault drops the connection. */
export function inProcess({ answer }: App) {
  return {
    async fetch(request: Request): Promise<Response> {
      const { method, url, headers } = request;
      const readBody = (limit: number) => readStream(request.body, limit);
      const { body, ...head } = await answer({ method, target: url, url, headers, readBody });
      return new Response(method === 'HEAD' || head.status === 304 ? null : body, head);
    },

    async exchange({ method, url, headers: given, body: text = '' }: PlainRequest): Promise<PlainAnswer> {
      const byName = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
      const headers = { get: (name: string) => byName.get(name.toLowerCase()) ?? null };
      const readBody = (limit: number) => readText(text, limit);
      const { body, ...head } = await answer({ method, target: url, url, headers, readBody });
      return { ...head, body: body.toString() };
    },
  };
}
