import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkGateway } from '../../../../src/service/carriers/http/check-gateway.js';
import { gatewayClient } from '../../../../src/service/carriers/http/gateway-client.js';
import { systemClock } from '../../../../src/service/clock.js';
import { answer, FaultyGateway } from '../../../support/gateway.js';
import { gatewayRoute } from './gateway-routes.js';

let gateway: FaultyGateway;
let port: number;
beforeEach(async () => {
  gateway = new FaultyGateway();
  port = await gateway.listen();
});
afterEach(() => gateway.close());

/** A proxy that reaches the gateway under every name, or answers with a status. */
async function startProxy(to: number, status = 200) {
  const asked: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer().on('connect', (request, socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = connect(to, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'));
    sockets.add(onward.on('error', () => {}));
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  onTestFinished(close);
  return {
    url: new URL(`http://me:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`),
    asked,
    close,
  };
}

const request = (url: string) => ({ method: 'POST', url, headers: {}, body: 'text=Hi' });
async function exchange(url: string, proxy: URL, times = 1) {
  const client = gatewayClient(new URL(url), { timeoutMs: 5_000, proxy }, systemClock);
  let exchanged = await client.exchange(request(url), new AbortController().signal);
  for (let time = 1; time < times; time += 1)
    exchanged = await client.exchange(request(url), new AbortController().signal);
  client.close();
  return exchanged;
}

describe('through a proxy', () => {
  it('a request goes in a tunnel, and so do those after it', async () => {
    const { url, asked } = await startProxy(port);
    const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(await exchange('http://sms.test/send', url, 3)).toMatchObject({ kind: 'answered' });
    expect(asked).toEqual([`sms.test:80 ${login}`]);
    expect(gateway.taken.map(({ url: path, body }) => [path, body])).toEqual(
      Array(3).fill(['/send', 'text=Hi']),
    );
    expect(gateway.taken[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it.each([407, 403, 502])('that refuses with %i nothing was sent', async (status) => {
    const { url } = await startProxy(port, status);
    const exchanged = await exchange('http://sms.test/send', url);
    expect(exchanged).toMatchObject({ kind: 'not_sent', reason: `the proxy answered ${status}` });
    expect(gateway.taken).toEqual([]);
  });

  it('that is not there, or reaches nobody who is trusted, nothing was sent', async () => {
    const { url, close } = await startProxy(port);
    expect(await exchange('https://sms.test/send', url)).toMatchObject({ kind: 'not_sent' });
    const folder = join(import.meta.dirname, '../../../fixtures/tls');
    const key = readFileSync(join(folder, 'key.pem'));
    const cert = readFileSync(join(folder, 'self-signed.pem'));
    const other = new FaultyGateway(createTlsServer({ key, cert }) as never);
    const strange = await startProxy(await other.listen());
    expect(await exchange('https://sms.test/send', strange.url)).toMatchObject({ kind: 'not_sent' });
    expect([other.taken, gateway.taken]).toEqual([[], []]);
    await other.close();
    close();
    expect(await exchange('http://sms.test/send', url)).toMatchObject({ kind: 'not_sent' });
  });

  it('that is cut after the request nobody knows', async () => {
    const { url, close } = await startProxy(port);
    gateway.react = () => close();
    expect(await exchange('http://sms.test/send', url)).toMatchObject({ kind: 'unanswered' });
  });
});

describe('the check of a route', () => {
  const check = (changes: object) =>
    checkGateway(
      gatewayRoute({ url: new URL(`http://127.0.0.1:${port}/send`), ...changes }),
      systemClock,
      5_000,
    );
  const asks = { url: new URL('http://sms.test/balance?v=2'), status: [200, 204], proxy: null };

  it('connects, through its proxy too, and asks for nothing', async () => {
    expect(await check({})).toBeNull();
    const proxy = await startProxy(port);
    expect(await check({ url: new URL('http://sms.test'), proxy: proxy.url })).toBeNull();
    const refusing = await startProxy(port, 403);
    expect(await check({ url: new URL('http://sms.test'), proxy: refusing.url })).toBe(
      'the proxy answered 403',
    );
    expect(gateway.taken).toEqual([]);
    await gateway.close();
    expect(await check({})).toContain('ECONNREFUSED');
    await gateway.listen();
  });

  it('asks what the route names, with its login', async () => {
    const { url: proxy } = await startProxy(port);
    const headers = { Authorization: 'Basic abc' };
    expect(await check({ check: { ...asks, proxy }, headers })).toBeNull();
    expect(gateway.taken).toMatchObject([
      { method: 'GET', url: '/balance?v=2', headers: { authorization: 'Basic abc' } },
    ]);
    gateway.react = answer(401);
    expect(await check({ check: { ...asks, proxy } })).toBe('http://sms.test/balance answered 401');
  });
});
