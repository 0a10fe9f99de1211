import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onceOpen } from '../../../network/open-socket.js';
import { connectToProxy, openTunnel, wayThrough } from '../../../network/through-proxy.js';
import type { Clock } from '../../clock.js';
import { gatewayClient } from './gateway-client.js';
import type { GatewayCheck, GatewayRoute } from './gateway-route.js';

/**
 * Requests the route's `check` with its login; without one it resolves the host, connects and shakes hands, and
 * requests nothing. Returns the problem within `timeoutMs`, null if there is none.
 */
export function checkGateway(route: GatewayRoute, clock: Clock, timeoutMs: number): Promise<string | null> {
  return route.check === null
    ? connectTo(route, clock, timeoutMs)
    : ask(route.check, route.headers, clock, timeoutMs);
}

async function ask(
  { url, status, proxy }: GatewayCheck,
  headers: GatewayRoute['headers'],
  clock: Clock,
  timeoutMs: number,
): Promise<string | null> {
  const client = gatewayClient(url, { timeoutMs, proxy }, clock);
  const request = { method: 'GET', url: url.href, headers: { ...headers }, body: null };
  const exchanged = await client.exchange(request, new AbortController().signal);
  client.close();
  if (exchanged.kind !== 'answered') return exchanged.reason;
  const answered = exchanged.answer.status;
  return status.includes(answered) ? null : `${url.origin}${url.pathname} answered ${answered}`;
}

function connectTo(
  { url, proxy }: Pick<GatewayRoute, 'url' | 'proxy'>,
  clock: Clock,
  milliseconds: number,
): Promise<string | null> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  return new Promise((resolve) => {
    let socket: Socket | undefined;
    const end = (problem: string | null) => {
      cancel();
      socket?.destroy();
      resolve(problem);
    };
    const way = proxy === null ? null : wayThrough(proxy, url.protocol);
    let isThrough = way === null;
    const cancel = clock.after(milliseconds, () =>
      end(way === null || isThrough ? 'it cannot be reached' : way.silent(false).message),
    );
    const failed = (error: Error) =>
      end(way === null || isThrough ? error.message : way.unreachable(error).message);
    const shake = (through?: Socket) => {
      isThrough = true;
      const to = through === undefined ? { host, port } : { socket: through };
      if (isTls) socket = connectTls({ ...to, servername: nameOf(host) }, () => end(null));
      else socket = connect({ host, port }, () => end(null));
      socket.on('error', failed);
    };
    if (proxy === null) shake();
    else if (isTls) openTunnel(proxy, host, port).then(shake, failed);
    else {
      // Who makes the request is the proxy.
      socket = connectToProxy(proxy).on('error', failed);
      onceOpen(socket, false, () => end(null));
    }
  });
}

/** An IP address is not a server name. */
const nameOf = (host: string): string => (isIP(host) === 0 ? host : '');
