import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';

/** Milliseconds that a proxy has to reach the gateway. */
const connectMs = 10_000;

/** A connection to a server through a proxy, which cannot see what is sent. If this rejects, nothing was sent. */
export function openTunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? https : http;
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const login = [proxy.username, proxy.password].map(decodeURIComponent).join(':');
  return new Promise((resolve, reject) => {
    const connecting = request(proxy, {
      method: 'CONNECT',
      path: target,
      agent: false,
      timeout: connectMs,
      headers: {
        Host: target,
        ...(login !== ':' && { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
    });
    connecting
      .on('connect', ({ statusCode }, socket, head) => {
        if (statusCode === 200 && head.length === 0) return resolve(socket as Socket);
        socket.destroy();
        reject(new Error(`the proxy answered ${statusCode}`));
      })
      // Without a tunnel it is an ordinary answer.
      .on('response', ({ statusCode }) => connecting.destroy(new Error(`the proxy answered ${statusCode}`)))
      .on('timeout', () => connecting.destroy(new Error('the proxy does not answer')))
      .on('error', (error) => reject(new Error(`the proxy: ${error.message}`, { cause: error })))
      .end();
  });
}
