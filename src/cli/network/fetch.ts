import type * as http from 'node:http';
import type { FetchLike, FetchResponse } from '../../client/index.js';
import { waitForAddresses } from '../../network/address-timeout.js';
import { onceOpen } from '../../network/open-socket.js';
import { type Env, namesProxy } from '../../network/proxy-variables.js';
import type { Way } from './way.js';

/** Bytes of a compressed answer; the service's are shorter. */
const mostBytes = 10 * 1024 * 1024;

/** Throws CliError (exit 2) for an unusable proxy: a job would wait for it as if it were unreachable. */
export async function fetchFor(baseUrl: string, env: Env): Promise<FetchLike> {
  await findWay(new URL(baseUrl), env);
  return nodeFetch(env);
}

/**
 * A fetch over node:http(s) with keep-alive connections, which takes a fraction of the CPU time of the global one. It
 * follows no redirects, and its errors say whether any of the request was sent.
 */
export function nodeFetch(env: Env): FetchLike {
  const agents = new Map<string, Promise<http.Agent>>();
  const agentFor = (url: URL, way: Way | null, keepAlive: boolean): Promise<http.Agent> => {
    const name = `${keepAlive} ${url.protocol}${way?.address ?? ''}`;
    const agent = agents.get(name) ?? makeAgent(url, way, keepAlive);
    agents.set(name, agent);
    return agent;
  };
  return async (address, { method, headers, body, signal }) => {
    let left = false;
    const failed = (error: unknown) => withRequestSent(error, left);
    try {
      const url = new URL(address);
      const way = await findWay(url, env);
      const asked = way?.asked(url);
      let reachedProxy = way === null;
      // Deno repeats a request by itself when a reused connection is reset, which is harmless only with a key.
      const agent = await agentFor(url, way, method === 'GET' || 'Idempotency-Key' in headers);
      const { request } = await protocolOf(url);
      signal.throwIfAborted();
      return await new Promise((resolve, reject) => {
        const outgoing = request(url, {
          method,
          headers: {
            ...headers,
            ...asked?.headers,
            ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
          },
          agent,
          ...(asked && { path: asked.path }),
        });
        // The client stops waiting at its timeout, so the error must be complete by then.
        const abort = () => {
          if (way !== null && (asked || !reachedProxy))
            Object.defineProperty(signal.reason, 'cause', { value: way.silent(left) });
          outgoing.destroy(failed(signal.reason) as Error);
        };
        signal.addEventListener('abort', abort, { once: true });
        outgoing
          .on('socket', (socket) => {
            // A tunnel is open before there is a socket.
            reachedProxy ||= !asked;
            onceOpen(socket, outgoing.reusedSocket, () => {
              left = true;
              reachedProxy = true;
            });
          })
          .on('error', (error) => reject(way === null || reachedProxy ? error : way.unreachable(error)))
          .on('response', (incoming) => {
            const refusal = way?.refusal(url, incoming) ?? null;
            // Nobody reads what others than the service say.
            if (refusal === null) return resolve(answer(incoming, 'Authorization' in headers));
            left = refusal.requestSent;
            outgoing.destroy(refusal);
          })
          .on('upgrade', (incoming, socket) => {
            socket.destroy();
            resolve({ ...answer(incoming, false), body: null });
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

async function findWay(url: URL, env: Env): Promise<Way | null> {
  return namesProxy(env) ? (await import('./way.js')).wayTo(url, env) : null;
}

/** Tells the client whether any of the request may have been sent (FetchLike). */
function withRequestSent(error: unknown, requestSent: boolean): unknown {
  return error instanceof Error ? Object.assign(error, { requestSent }) : error;
}

async function makeAgent(url: URL, way: Way | null, keepAlive: boolean): Promise<http.Agent> {
  await waitForAddresses();
  const agent = new (await protocolOf(url)).Agent({ keepAlive });
  way?.use(agent);
  return agent;
}

/** Each is loaded only when needed; the embedded service needs neither. */
async function protocolOf({ protocol }: URL): Promise<typeof http> {
  return protocol === 'https:'
    ? ((await import('node:https')) as unknown as typeof http)
    : await import('node:http');
}

function answer(incoming: http.IncomingMessage, decodes: boolean): FetchResponse {
  const { 'content-encoding': encoding } = incoming.headers;
  return {
    status: incoming.statusCode ?? 0,
    headers: {
      get(name) {
        const value = incoming.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : (value ?? null);
      },
    },
    body: encoding === undefined || !decodes ? incoming : decodedBody(incoming, encoding),
  };
}

/** Of an answer that a proxy compressed, though nobody asked for it. */
async function* decodedBody(incoming: http.IncomingMessage, encoding: string): AsyncGenerator<Uint8Array> {
  const { decoded } = await import('../../network/content-encoding.js');
  const blocks: Buffer[] = [];
  let size = 0;
  for await (const block of incoming as AsyncIterable<Buffer>) {
    size += block.length;
    if (size > mostBytes) throw new Error('the answer is too long');
    blocks.push(block);
  }
  yield decoded(Buffer.concat(blocks), encoding, mostBytes);
}
