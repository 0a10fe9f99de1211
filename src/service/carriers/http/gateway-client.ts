import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { decodeAnswer, type GatewayAnswer } from './answer-values.js';
import type { RenderedRequest } from './rendered-request.js';

/** Bytes of an answer that are read. */
const mostBytes = 1_048_576;
/** Milliseconds that a connection is kept after its last answer: one that is closed while we write is a doubt. */
const keptMs = 2_000;
/** Less than a gateway announces, for its clock starts before ours. */
const sparedMs = 1_000;
const connectMs = 10_000;

/** What came of a request. */
export type Exchanged =
  | { kind: 'answered'; answer: GatewayAnswer }
  /** Certainly nothing of it left. */
  | { kind: 'not_sent'; reason: string }
  /** It left, and no whole answer came. */
  | { kind: 'unanswered'; reason: string };

export interface GatewayClient {
  exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchanged>;
  close(): void;
}

/** `agentFor`: reaches an address through a proxy; undefined for none. */
export function gatewayClient(
  timeoutMs: number,
  tunnel: ((options: http.AgentOptions) => http.Agent) | null = null,
): GatewayClient {
  const options = { keepAlive: true, scheduling: 'lifo' as const };
  const agents = new Map<string, http.Agent>();
  const agentOf = (protocol: string): http.Agent => {
    const known = agents.get(protocol);
    if (known !== undefined) return known;
    const made =
      tunnel?.(options) ?? (protocol === 'https:' ? new https.Agent(options) : new http.Agent(options));
    keepBriefly(made);
    agents.set(protocol, made);
    return made;
  };

  function exchange(request: RenderedRequest, signal: AbortSignal): Promise<Exchanged> {
    return new Promise((resolve) => {
      let hasLeft = false;
      const url = new URL(request.url);
      const { body } = request;
      const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const outgoing = (url.protocol === 'https:' ? https : http).request(url, {
        method: request.method,
        headers: { ...request.headers, ...length, 'Accept-Encoding': 'identity' },
        agent: agentOf(url.protocol),
      });
      const fail = (error: Error) => {
        end();
        const reason = reasonOf(error);
        resolve(hasLeft ? { kind: 'unanswered', reason } : { kind: 'not_sent', reason });
        outgoing.destroy();
      };
      const timer = setTimeout(() => fail(new Error('it did not answer in time')), timeoutMs);
      let connectTimer: NodeJS.Timeout | undefined;
      const abort = () => fail(new Error('it was stopped'));
      const end = () => {
        clearTimeout(timer);
        clearTimeout(connectTimer);
        signal.removeEventListener('abort', abort);
      };
      signal.addEventListener('abort', abort, { once: true });
      outgoing.on('socket', (socket: Socket) => {
        const left = () => {
          hasLeft = true;
          clearTimeout(connectTimer);
        };
        socket.setTimeout(0);
        if (outgoing.reusedSocket || isOpen(socket)) return left();
        connectTimer = setTimeout(() => fail(new Error('it cannot be reached: connect timeout')), connectMs);
        socket.once('encrypted' in socket ? 'secureConnect' : 'connect', left);
      });
      outgoing.on('error', fail);
      outgoing.on('upgrade', (_, socket) => {
        socket.destroy();
        fail(new Error('it answered with another protocol'));
      });
      outgoing.on('response', (incoming) => {
        readWhole(incoming).then((text) => {
          end();
          resolve({ kind: 'answered', answer: answerOf(incoming, text) });
        }, fail);
      });
      if (signal.aborted) return abort();
      outgoing.end(body ?? undefined);
    });
  }

  return {
    exchange,
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Keeps a connection for as long as its gateway certainly does. */
function keepBriefly(agent: http.Agent): void {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: unknown) => boolean;
  agent.keepSocketAlive = (socket: Socket & { _httpMessage?: { res?: http.IncomingMessage } }) => {
    const announced = /timeout=(\d+)/.exec(
      String(socket._httpMessage?.res?.headers['keep-alive'] ?? ''),
    )?.[1];
    const forMs = announced === undefined ? keptMs : Math.min(keptMs, Number(announced) * 1_000 - sparedMs);
    if (forMs <= 0 || !keep(socket)) return false;
    socket.setTimeout(forMs);
    return true;
  };
}

async function readWhole(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error('its answer is over 1 MB');
    chunks.push(chunk);
  }
  if (!incoming.complete) throw new Error('its answer was cut');
  return Buffer.concat(chunks).toString();
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage, text: string): GatewayAnswer {
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
  return decodeAnswer(
    statusCode,
    headers['content-type'] ?? '',
    text,
    Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter * 1_000 : null,
  );
}

function isOpen(socket: Socket): boolean {
  return !socket.connecting && !('secureConnecting' in socket && socket.secureConnecting);
}

const reasonOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.message;
