import { connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { SmppRoute } from '../route-settings.js';

export function dial({ host, port, tls }: SmppRoute, onConnected: () => void): Duplex {
  const socket = tls
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) }, onConnected)
    : connect({ host, port }, onConnected);
  socket.setNoDelay(true);
  return socket;
}
