import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../clock.js';

/** Resolves, connects and shakes hands within `milliseconds`, and asks for nothing: the problem, null for none. */
export function checkGateway(url: URL, clock: Clock, milliseconds: number): Promise<string | null> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  return new Promise((resolve) => {
    const socket = isTls ? connectTls({ host, port, servername: nameOf(host) }) : connect({ host, port });
    const end = (problem: string | null) => {
      cancel();
      socket.destroy();
      resolve(problem);
    };
    const cancel = clock.after(milliseconds, () => end('it cannot be reached'));
    socket.once(isTls ? 'secureConnect' : 'connect', () => end(null));
    socket.on('error', (error) => end(error.message));
  });
}

/** An address is no name of a server. */
const nameOf = (host: string): string => (isIP(host) === 0 ? host : '');
