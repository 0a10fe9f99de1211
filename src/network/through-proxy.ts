import * as http from 'node:http';
import * as https from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Milliseconds without a word of a proxy that is asked for a tunnel. */
const silenceMs = 30_000;

/** The proxy did not pass a request on, or not certainly. Its message names the proxy, without its password. */
export class ProxyFailure extends Error {
  readonly code: 'PROXY_UNREACHABLE' | 'PROXY_SILENT' | 'PROXY_LOGIN' | 'PROXY_REFUSED';
  /** Whether some of the request may have reached its server. */
  readonly requestSent: boolean;

  constructor(
    code: ProxyFailure['code'],
    { host }: URL,
    words: string,
    { requestSent = false, cause }: { requestSent?: boolean; cause?: unknown } = {},
  ) {
    super(`the proxy ${host} ${words}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.requestSent = requestSent;
  }
}

/** How the requests of one protocol go through a proxy. */
export interface Way {
  /** Makes an agent connect to the proxy. */
  use(agent: http.Agent): void;
  /** What a request for a URL has in addition; null in a tunnel. */
  asked(url: URL): { path: string; headers: Record<string, string> } | null;
  /** Why the proxy itself answered for a URL; null for an answer that came from beyond it. */
  refusal(url: URL, answer: http.IncomingMessage): ProxyFailure | null;
  /** For a connection that failed. */
  unreachable(cause: Error): ProxyFailure;
  /** For a request whose answer did not come in time. */
  silent(requestSent: boolean): ProxyFailure;
}

/** For https in a tunnel, which the proxy cannot look into; for plain http the proxy makes the request. */
export function wayThrough(proxy: URL, protocol: string): Way {
  const isTunnel = protocol === 'https:';
  return {
    use: (agent) => connectThrough(agent, isTunnel, proxy),
    asked: (url) =>
      isTunnel ? null : { path: url.origin + url.pathname + url.search, headers: loginOf(proxy) },
    refusal: (url, answer) => (isTunnel ? null : ownAnswer(proxy, url, answer)),
    unreachable: (cause) => unreachable(proxy, cause),
    silent: (requestSent) => silent(proxy, requestSent),
  };
}

const unreachable = (proxy: URL, cause: Error): ProxyFailure =>
  cause instanceof ProxyFailure
    ? cause
    : new ProxyFailure('PROXY_UNREACHABLE', proxy, `cannot be reached: ${cause.message}`, { cause });

const silent = (proxy: URL, requestSent = false): ProxyFailure =>
  new ProxyFailure('PROXY_SILENT', proxy, requestSent ? 'returned no answer' : 'does not answer', {
    requestSent,
  });

function connectThrough(agent: http.Agent, isTunnel: boolean, proxy: URL): void {
  const connectAgent = agent.createConnection.bind(agent);
  agent.createConnection = (options, done = () => {}) => {
    if (!isTunnel) return connectToProxy(proxy);
    const { host, port } = options as { host: string; port: number | string };
    openTunnel(proxy, host, Number(port)).then(
      (socket) => done(null, connectAgent({ ...options, socket } as typeof options) as Socket),
      (error: Error) => done(error, undefined as never),
    );
    return undefined;
  };
}

function ownAnswer(
  proxy: URL,
  url: URL,
  { statusCode = 0, statusMessage = '', headers }: http.IncomingMessage,
): ProxyFailure | null {
  const squid = String(headers['x-squid-error'] ?? '');
  const isTinyproxy = statusCode >= 400 && /^tinyproxy\b/.test(String(headers.server));
  if (statusCode !== 407 && squid === '' && !isTinyproxy) return null;
  const isUnsent =
    statusCode === 407 ||
    /^ERR_(?:CONNECT_FAIL|DNS_FAIL)\b/.test(squid) ||
    // It also refuses to show answers, after a look-up.
    (squid.startsWith('ERR_ACCESS_DENIED') && String(headers['x-cache-lookup']).startsWith('NONE')) ||
    (isTinyproxy && (statusCode === 401 || statusCode === 403 || statusMessage === 'Unable to connect'));
  return refused(proxy, url.host, statusCode, !isUnsent);
}

/** A connection to a server through a proxy. If this rejects, with a ProxyFailure, nothing was sent. */
export function openTunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const { request } = proxy.protocol === 'https:' ? https : http;
    const asking = request({
      ...placeOf(proxy),
      method: 'CONNECT',
      path: target,
      agent: false,
      timeout: silenceMs,
      headers: { Host: target, ...loginOf(proxy) },
    });
    const refuse = (status: number) => asking.destroy(refused(proxy, target, status));
    asking
      // Whoever has stopped waiting does not wait for it at the end of the process.
      .on('socket', (socket) => socket.unref())
      .on('connect', ({ statusCode = 0 }, stream, head) => {
        const socket = stream as Socket;
        socket.ref();
        if (statusCode === 200 && head.length === 0) return resolve(socket);
        socket.destroy();
        reject(refused(proxy, target, statusCode));
      })
      // Without a tunnel it is an ordinary answer.
      .on('response', ({ statusCode = 0 }) => refuse(statusCode))
      .on('timeout', () => asking.destroy(silent(proxy)))
      .on('error', (error) => reject(unreachable(proxy, error)))
      .end();
  });
}

function refused(proxy: URL, target: string, status: number, requestSent = false): ProxyFailure {
  const fail = (words: string, code: ProxyFailure['code'] = 'PROXY_REFUSED') =>
    new ProxyFailure(code, proxy, `${words} (HTTP ${status})`, { requestSent });
  // Tinyproxy says 401 of a wrong password.
  if (status === 407 || status === 401) {
    const hasLogin = proxy.username !== '' || proxy.password !== '';
    const words = hasLogin ? 'does not accept the user name and password' : 'needs a user name and password';
    return fail(words, 'PROXY_LOGIN');
  }
  if (status === 403) return fail(`does not allow ${target}`);
  return fail(status >= 500 ? `got no answer from ${target}` : 'refused the request');
}

function loginOf({ username, password }: URL): Record<string, string> {
  const login = [username, password].map(decodeURIComponent).join(':');
  return login === ':' ? {} : { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` };
}

function placeOf({ protocol, hostname, port }: URL): { host: string; port: number } {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

export function connectToProxy(proxy: URL): Socket {
  const place = placeOf(proxy);
  return proxy.protocol === 'https:' ? connectTls({ ...place, servername: place.host }) : connect(place);
}
