import type * as http from 'node:http';
import type { FetchLike, FetchResponse } from '../../client/index.js';
import { proxyFor } from './proxy.js';

/**
 * A fetch over node:http(s) with kept-alive connections, at a fraction of the cpu of the global one. It does
 * what the client asks of fetch; it follows no redirect.
 */
export function nodeFetch(env: Readonly<Record<string, string | undefined>>): FetchLike {
  const agents = new Map<string, Promise<http.Agent>>();
  const agentFor = (url: URL, keepAlive: boolean): Promise<http.Agent> => {
    const proxy = proxyFor(url, env);
    const name = `${keepAlive} ${url.protocol}${proxy ?? ''}`;
    const agent = agents.get(name) ?? makeAgent(url, proxy, keepAlive);
    agents.set(name, agent);
    return agent;
  };
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    // Deno repeats a request by itself when a kept connection is reset, which only a key makes harmless.
    const agent = await agentFor(url, method === 'GET' || 'Idempotency-Key' in headers);
    const { request } = await protocolOf(url);
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const outgoing = request(url, {
        method,
        headers: body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
        agent,
      });
      const abort = () => outgoing.destroy(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      outgoing
        .on('close', () => signal.removeEventListener('abort', abort))
        .on('error', reject)
        .on('response', (incoming) => resolve(answer(incoming)))
        .end(body);
    });
  };
}

async function makeAgent(url: URL, proxy: string | null, keepAlive: boolean): Promise<http.Agent> {
  const options = { keepAlive };
  if (proxy !== null) return (await import('./proxy-agent.js')).proxyAgent(proxy, url, options);
  return new (await protocolOf(url)).Agent(options);
}

/** Each is loaded only where it is spoken: the embedded service needs neither. */
async function protocolOf({ protocol }: URL): Promise<typeof http> {
  return protocol === 'https:'
    ? ((await import('node:https')) as unknown as typeof http)
    : await import('node:http');
}

function answer(incoming: http.IncomingMessage): FetchResponse {
  return {
    status: incoming.statusCode ?? 0,
    headers: {
      get(name) {
        const value = incoming.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : (value ?? null);
      },
    },
    body: incoming,
  };
}
