import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { defaultHost, defaultPort, isLoopback } from '../../contract/index.js';
import { monotonic } from '../clock.js';
import { ServiceError } from '../errors/service-error.js';
import type { ListenAddress, Listening, PlainAnswer } from '../service.js';
import { commonHeaders, errorAnswer, fullRateLimit, kindOf } from './answer.js';
import { readIncoming } from './body/read-body.js';
import type { RequestHandler, WrittenAnswer } from './call.js';
import { type Bounds, Connections, defaultBounds, WaitingRequest } from './connections.js';
import { ConnectionDropped } from './inject-fault.js';
import { connectionsWithin, openFilesLimit } from './open-files.js';
import { countOf, headProblem } from './request-head.js';
import { WarningLog } from './warning-log.js';

/** Times are in milliseconds. */
export interface ListenOptions {
  /** Until a request's headers are in; 10 s. */
  headersTimeout?: number;
  /** Until a whole request is in, its body included; 30 s. */
  requestTimeout?: number;
  /** Of an idle connection; 75 s, longer than proxies keep theirs: one that it closes first costs a POST. */
  keepAliveTimeout?: number;
  /** Of a client that does not read its answer; 30 s. */
  writeTimeout?: number;
  /** Until `close()` drops unfinished answers; 30 s. */
  closeTimeout?: number;
  bounds?: Partial<Bounds>;
  /** Called for each connection over the limit. */
  shed?: () => void;
  /** Monotonic. */
  now?: () => number;
  /** Called for errors in accepting connections and in writing answers. */
  report?: (error: unknown) => void;
}

const maxHeaderBytes = 16 * 1024;
/** Milliseconds that `Keep-Alive` announces: clients that obey it hold no sockets for long. */
const announced = 15_000;

/** Serves requests over HTTP. Rejects when it cannot listen on the address. */
export async function listen(
  handle: RequestHandler,
  { host = defaultHost, port = defaultPort, tls }: Pick<ListenAddress, 'host' | 'port' | 'tls'> = {},
  options: ListenOptions = {},
): Promise<Listening> {
  const { headersTimeout = 10_000, requestTimeout = 30_000, keepAliveTimeout = 75_000 } = options;
  const bounds = { ...defaultBounds, connections: connectionsWithin(openFilesLimit()), ...options.bounds };
  const settings = {
    IncomingMessage: WaitingRequest,
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout: Math.min(announced, keepAliveTimeout),
    maxHeaderSize: maxHeaderBytes,
    // How often Node.js checks for timeouts; its default is 30 s.
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(headersTimeout / 4)),
    // Checked in request-head.ts, which answers all errors.
    requireHostHeader: false,
  };
  // Loaded late: most services have no certificate.
  const server =
    tls === undefined
      ? createServer(settings)
      : (await import('node:https')).createServer({ ...settings, ...tls, handshakeTimeout: headersTimeout });
  // A client may close its side after its request and still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node.js silently drops headers over its own limit; here their bytes are limited.
  server.maxHeadersCount = 0;

  const report = options.report ?? (() => {});
  const { now = monotonic } = options;
  const shedLog = new WarningLog(
    report,
    'ConnectionsShed',
    (count) =>
      `${count === 1 ? '1 connection was' : `${count} connections were`} turned away: all ${bounds.connections} were in use`,
    now,
  );
  const connections = new Connections(server, {
    isTls: tls !== undefined,
    bounds,
    idleTimeout: keepAliveTimeout,
    now,
    shed() {
      options.shed?.();
      shedLog.add();
      return rawAnswer(tooManyConnections());
    },
  });
  const { writeTimeout = 30_000 } = options;
  server.setTimeout(Math.ceil(writeTimeout / 10), (socket: Socket) =>
    connections.onInactive(socket, writeTimeout),
  );
  const answer = requestListener(handle, report);
  const serve = (incoming: WaitingRequest, outgoing: ServerResponse<WaitingRequest>) => {
    if (tls !== undefined && !isOfThisMachine(incoming.headers.host))
      outgoing.setHeader('Strict-Transport-Security', 'max-age=31536000');
    connections.admit(outgoing, async (hasRoom) => {
      const problem = hasRoom ? headProblem(incoming, bounds.headers) : tooManyRequests();
      if (problem === null) await answer(incoming, outgoing);
      else writeAnswer(outgoing, closingAnswer(problem, incoming.method));
    });
  };
  server.on('request', serve);
  // `100 Continue` is written when the body is read.
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // An answer is impossible before the end of the handshake.
    if (tls !== undefined && !connections.has(socket)) socket.destroy();
    else connections.refuse(socket, rawAnswer(refusalOf(error.code)));
  });

  server.listen({ host, port });
  await once(server, 'listening');
  server.on('error', report);
  const { port: actualPort } = server.address() as AddressInfo;

  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    connections.endAll();
    const timer = setTimeout(() => connections.destroyAll(), options.closeTimeout ?? 30_000);
    await closed;
    clearTimeout(timer);
  }
  let closing: Promise<void> | undefined;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${hostOfUrl(host)}:${actualPort}/v1`,
    renew(pair) {
      if ('setSecureContext' in server) (server as TlsServer).setSecureContext(pair);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function requestListener(handle: RequestHandler, report: (error: unknown) => void) {
  return getRequestListener(
    async ({ method, url, headers }, bindings) => {
      const { incoming, outgoing } = bindings as HttpBindings;
      const readBody = (limit: number) => {
        if (incoming.headers.expect?.toLowerCase() === '100-continue') outgoing.writeContinue();
        return readIncoming(incoming, limit);
      };
      try {
        const target = incoming.url ?? url;
        const occurrences = (name: string) => countOf(incoming, name);
        const peer = () => incoming.socket.remoteAddress;
        const whenEnded = (run: () => void) => {
          const { socket } = incoming;
          socket.once('end', run).once('close', run);
          return () => socket.off('end', run).off('close', run);
        };
        const request = { method, target, url, headers, countOf: occurrences, peer, whenEnded, readBody };
        const answer = await handle(request);
        if (answer instanceof Response) return answer;
        writeAnswer(outgoing, answer);
        return RESPONSE_ALREADY_SENT;
      } catch (error) {
        if (!(error instanceof ConnectionDropped)) report(error);
        incoming.socket.destroy();
        throw error;
      }
    },
    {
      hostname: 'localhost',
      overrideGlobalObjects: false,
      // The target is not a URL, or the handler rejected because the connection is lost.
      errorHandler(error) {
        if (!isRequestError(error)) return;
        const { body, ...head } = closingAnswer(refusalOf(undefined));
        return new Response(body, head);
      },
    },
  );
}

function writeAnswer(outgoing: ServerResponse, { status, headers, body }: WrittenAnswer): void {
  const length = status === 304 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length }).end(body);
}

/** Where a browser would lead every other program of the machine to TLS too. */
const isOfThisMachine = (host = '') => isLoopback(host.toLowerCase().replace(/:\d*$/, ''));

/** A wildcard address cannot be connected to. */
function hostOfUrl(host: string): string {
  if (host === '0.0.0.0') return defaultHost;
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

const tooManyConnections = () =>
  new ServiceError('unavailable', 'Too many connections; try again', { retryAfter: 1 });

const tooManyRequests = () =>
  new ServiceError('unavailable', 'Too many requests at once. Nothing was done; try again', {
    retryAfter: 1,
  });

const isRequestError = (error: unknown) => error instanceof Error && error.name === 'RequestError';

function refusalOf(code: string | undefined): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError(
        'invalid_request',
        `The headers are over the limit of ${maxHeaderBytes} bytes`,
        { status: 431 },
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      // Not 408, after which clients give up: the request may only be late because this machine was paused.
      return new ServiceError(
        'unavailable',
        'The request did not arrive in time. Nothing was done; try again',
      );
    default:
      return new ServiceError('invalid_request', 'Malformed HTTP request');
  }
}

/** The answer to a request that does not reach the handler. */
function closingAnswer(error: ServiceError, method = 'GET'): PlainAnswer {
  const { body, headers } = errorAnswer(error);
  const common = commonHeaders(randomUUID(), fullRateLimit(kindOf(method)));
  return {
    status: error.status,
    headers: { ...common, ...headers, Connection: 'close' },
    body: JSON.stringify(body),
  };
}

function rawAnswer(error: ServiceError): string {
  const { status, headers, body } = closingAnswer(error);
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`;
}
