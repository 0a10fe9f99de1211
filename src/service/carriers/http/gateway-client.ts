import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { onAbort } from '../../../contract/on-abort.js';
import { decoded } from '../../../network/content-encoding.js';
import { onceOpen } from '../../../network/open-socket.js';
import { ProxyFailure, type Way, wayThrough } from '../../../network/through-proxy.js';
import type { Clock } from '../../clock.js';
import { decodeAnswer, decodeBody, type GatewayAnswer } from './answer-values.js';
import { GatewayAgent } from './gateway-agent.js';
import type { RenderedRequest } from './rendered-request.js';

/** Bytes of an answer that are read. */
const mostBytes = 1_048_576;
const connectMs = 10_000;
/** The longest Retry-After that counts. */
const longestRetryMs = 3_600_000;

/** The outcome of a request. */
export type Exchanged =
  | { kind: 'answered'; answer: GatewayAnswer }
  /** Certainly nothing of it was sent. */
  | { kind: 'not_sent'; reason: string }
  /** It was sent, and no complete answer arrived. */
  | { kind: 'unanswered'; reason: string };

export interface GatewayClient {
  /** Never rejects. Follows no redirect. */
  exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchanged>;
  close(): void;
}

export function gatewayClient(
  { protocol }: URL,
  { timeoutMs, proxy }: { timeoutMs: number; proxy: URL | null },
  clock: Clock,
): GatewayClient {
  const way = proxy === null ? null : wayThrough(proxy, protocol);
  const connections = new GatewayAgent(protocol, clock, way);
  const { request } = protocol === 'https:' ? https : http;
  const addressOf = addresses();
  return {
    exchange(rendered, signal) {
      connections.forgetOld();
      return new Promise((resolve) => {
        let outgoing: http.ClientRequest;
        let url: URL;
        let asked: ReturnType<Way['asked']>;
        try {
          const address = addressOf(rendered.url);
          url = address.url;
          asked = way?.asked(url) ?? null;
          outgoing = request({
            ...address.options,
            method: rendered.method,
            headers: { ...headersOf(rendered), ...asked?.headers },
            agent: connections.agent,
            ...(asked && { path: asked.path }),
          });
        } catch (error) {
          resolve({ kind: 'not_sent', reason: reasonOf(error as Error) });
          return;
        }
        let hasLeft = false;
        let reachedProxy = way === null;
        const end = (exchanged: Exchanged) => {
          cancelTimer();
          unlisten();
          resolve(exchanged);
        };
        const fail = (error: Error) => {
          end({ kind: hasLeft ? 'unanswered' : 'not_sent', reason: reasonOf(error) });
          outgoing.destroy();
        };
        const failOnWay = (error: Error) =>
          fail(way === null || reachedProxy ? error : way.unreachable(error));
        const abort = () => fail(new Error('it was stopped'));
        const connectWithin = Math.min(connectMs, timeoutMs);
        let cancelTimer = clock.after(connectWithin, () => {
          if (!hasLeft)
            return fail(way === null || reachedProxy ? new Error('it cannot be reached') : way.silent(false));
          cancelTimer = clock.after(timeoutMs - connectWithin, () => fail(new Error('no answer in time')));
        });
        const unlisten = onAbort(signal, abort);
        outgoing.on('socket', (socket: Socket) => {
          // A tunnel is open before there is a socket.
          reachedProxy ||= !asked;
          onceOpen(socket, outgoing.reusedSocket, () => {
            hasLeft = true;
            reachedProxy = true;
          });
        });
        outgoing.on('error', failOnWay);
        outgoing.on('upgrade', () => fail(new Error('it answered with another protocol')));
        outgoing.on('response', (incoming) => {
          const refusal = way?.refusal(url, incoming) ?? null;
          if (refusal !== null) {
            hasLeft = refusal.requestSent;
            return fail(refusal);
          }
          readAnswer(incoming, clock.now()).then((answer) => end({ kind: 'answered', answer }), fail);
        });
        if (signal.aborted) abort();
        else outgoing.end(rendered.body ?? undefined);
      });
    },
    close: () => connections.agent.destroy(),
  };
}

interface Address {
  url: URL;
  options: http.RequestOptions;
}

/** Takes addresses apart. The last one is known: that of most routes stays the same. */
function addresses(): (href: string) => Address {
  let last: (Address & { href: string }) | null = null;
  return (href) => {
    if (last?.href !== href) {
      const url = new URL(href);
      const { protocol, hostname, port, path, auth } = urlToHttpOptions(url) as http.RequestOptions;
      last = { href, url, options: { protocol, hostname, port, path, auth } };
    }
    return last;
  };
}

function headersOf({ headers, body }: RenderedRequest): Record<string, string> {
  const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return { 'User-Agent': 'urtuu', 'Accept-Encoding': 'identity', ...headers, ...length };
}

async function readAnswer(incoming: http.IncomingMessage, now: number): Promise<GatewayAnswer> {
  const { statusCode = 0, headers } = incoming;
  const whole = await readWhole(incoming);
  const { 'content-encoding': encoding = 'identity' } = headers;
  const body = encoding.toLowerCase() === 'identity' ? whole : await decoded(whole, encoding, mostBytes);
  const type = headers['content-type'] ?? '';
  return decodeAnswer(statusCode, type, decodeBody(type, body), retryAfterMs(headers['retry-after'], now));
}

/** Uses events: an iterator takes as long as the rest of a request. */
function readWhole(incoming: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    const cut = () => {
      // Creating an error's stack trace takes longer than the answer.
      if (!isOver) reject(new Error('its answer was cut'));
    };
    incoming
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > mostBytes) reject(new Error('its answer is over 1 MB'));
        else chunks.push(chunk);
      })
      .on('end', () => {
        if (!incoming.complete) return cut();
        isOver = true;
        const [only] = chunks;
        resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
      })
      .on('error', reject)
      .on('close', cut);
  });
}

/** Seconds or a date; null for anything else. */
function retryAfterMs(written: string | undefined, now: number): number | null {
  if (written === undefined) return null;
  const milliseconds = /^\d+$/.test(written) ? Number(written) * 1_000 : Date.parse(written) - now;
  return Number.isNaN(milliseconds) ? null : Math.min(Math.max(milliseconds, 0), longestRetryMs);
}

const reasonOf = (error: Error): string =>
  error instanceof ProxyFailure ? error.message : ((error as NodeJS.ErrnoException).code ?? error.message);
