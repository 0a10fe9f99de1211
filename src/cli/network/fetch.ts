import type * as http from 'node:http';
import type { Socket } from 'node:net';
import type { FetchLike, FetchResponse } from '../../client/index.js';
import { waitForAddresses } from './address-timeout.js';
import { type Env, proxyFor } from './proxy.js';

/** Throws CliError (exit 2) for an unusable proxy: a job would wait for it as if it were unreachable. */
export function fetchFor(baseUrl: string, env: Env): FetchLike {
  proxyFor(new URL(baseUrl), env);
  return nodeFetch(env);
}

/**
 * A fetch over node:http(s) with keep-alive connections, which takes a fraction of the CPU time of the global one. It
 * follows no redirects, and its errors say whether any of the request was sent.
 */
export function nodeFetch(env: Env): FetchLike {
  const agents = new Map<string, Promise<http.Agent>>();
  const agentFor = (url: URL, proxy: string | null, keepAlive: boolean): Promise<http.Agent> => {
    const name = `${keepAlive} ${url.protocol}${proxy ?? ''}`;
    const agent = agents.get(name) ?? makeAgent(url, proxy, keepAlive);
    agents.set(name, agent);
    return agent;
  };
  return async (address, { method, headers, body, signal }) => {
    let left = false;
    const failed = (error: unknown) => withRequestSent(error, left);
    try {
      const url = new URL(address);
      const proxy = proxyFor(url, env);
      let reachedProxy = proxy === null;
      // Deno repeats a request by itself when a reused connection is reset, which is harmless only with a key.
      const agent = await agentFor(url, proxy, method === 'GET' || 'Idempotency-Key' in headers);
      const { request } = await protocolOf(url);
      signal.throwIfAborted();
      return await new Promise((resolve, reject) => {
        const outgoing = request(url, {
          method,
          headers: body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
          agent,
        });
        // The client stops waiting at its timeout, so the error must be complete by then.
        const abort = () => outgoing.destroy(failed(signal.reason) as Error);
        signal.addEventListener('abort', abort, { once: true });
        outgoing
          .on('socket', (socket) => {
            if (outgoing.reusedSocket || isOpen(socket)) left = true;
            else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (left = true));
          })
          .on('proxyConnect', ({ statusCode }: { statusCode: number }) => {
            reachedProxy = true;
            if (statusCode !== 200) outgoing.destroy(proxyRefused(statusCode));
          })
          .on('error', (error) => reject(reachedProxy ? error : proxyUnreachable(error)))
          .on('response', (incoming) => resolve(answer(incoming)))
          .on('upgrade', (incoming, socket) => {
            socket.destroy();
            resolve({ ...answer(incoming), body: null });
          })
          .on('close', () => {
            signal.removeEventListener('abort', abort);
            // Does nothing after an answer.
            reject(new Error('the connection was closed without an answer'));
          })
          .end(body);
      });
    } catch (error) {
      throw failed(error);
    }
  };
}

/** Tells the client whether any of the request may have been sent (FetchLike). */
function withRequestSent(error: unknown, requestSent: boolean): unknown {
  return error instanceof Error ? Object.assign(error, { requestSent }) : error;
}

function isOpen(socket: Socket): boolean {
  return !socket.connecting && !('secureConnecting' in socket && socket.secureConnecting);
}

function proxyRefused(status: number): Error {
  return Object.assign(new Error(`the proxy answered HTTP ${status}`), { code: 'PROXY_REFUSED' });
}

function proxyUnreachable(cause: Error): Error {
  return Object.assign(new Error('the proxy cannot be reached', { cause }), { code: 'PROXY_UNREACHABLE' });
}

async function makeAgent(url: URL, proxy: string | null, keepAlive: boolean): Promise<http.Agent> {
  const options = { keepAlive };
  await waitForAddresses();
  if (proxy !== null) return (await import('./proxy-agent.js')).proxyAgent(proxy, options);
  return new (await protocolOf(url)).Agent(options);
}

/** Each is loaded only when needed; the embedded service needs neither. */
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
