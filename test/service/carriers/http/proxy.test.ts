import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
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

/** A proxy that reaches the gateway under every name, in a tunnel or by a request, or answers with a status. */
async function startProxy(to: number, status = 200, answerHeaders = {}) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.url} ${incoming.headers['proxy-authorization']}`);
    if (status !== 200) return void response.writeHead(status, answerHeaders).end('<html>');
    const { method, headers, url = '' } = incoming;
    delete headers['proxy-authorization'];
    const onward = request({ port: to, method, headers, path: new URL(url).pathname + new URL(url).search });
    onward
      .on('response', (answered) => answered.pipe(response.writeHead(answered.statusCode ?? 0)))
      .on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  server.on('connect', (incoming, socket: Socket) => {
    asked.push(`${incoming.url} ${incoming.headers['proxy-authorization']}`);
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
  const { port: own } = server.address() as AddressInfo;
  return { url: new URL(`http://me:p%40ss@127.0.0.1:${own}`), host: `127.0.0.1:${own}`, asked, close };
}

const post = (url: string) => ({ method: 'POST', url, headers: {}, body: 'text=Hi' });
async function exchange(url: string, proxy: URL, times = 1) {
  const client = gatewayClient(new URL(url), { timeoutMs: 5_000, proxy }, systemClock);
  let exchanged = await client.exchange(post(url), new AbortController().signal);
  for (let time = 1; time < times; time += 1)
    exchanged = await client.exchange(post(url), new AbortController().signal);
  client.close();
  return exchanged;
}

describe('through a proxy', () => {
  it('plain http is asked of the proxy, which alone sees its login', async () => {
    const { url, asked } = await startProxy(port);
    const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(await exchange('http://sms.test/send?v=1', url, 3)).toMatchObject({ kind: 'answered' });
    expect(asked).toEqual(Array(3).fill(`http://sms.test/send?v=1 ${login}`));
    expect(gateway.taken.map(({ url: path, body, headers }) => [path, body, headers.host])).toEqual(
      Array(3).fill(['/send?v=1', 'text=Hi', 'sms.test']),
    );
  });

  it('https goes in a tunnel, and so do the requests after it', async () => {
    const { url, asked } = await startProxy(port, 403);
    await exchange('https://sms.test/send', url);
    expect(asked).toEqual([`sms.test:443 Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
  });

  it.each([
    [407, 'does not accept the user name and password (HTTP 407)'],
    [403, 'does not allow sms.test:443 (HTTP 403)'],
    [502, 'got no answer from sms.test:443 (HTTP 502)'],
  ])('that refuses a tunnel with %i nothing was sent', async (status, words) => {
    const { url, host } = await startProxy(port, status);
    const exchanged = await exchange('https://sms.test/send', url);
    expect(exchanged).toEqual({ kind: 'not_sent', reason: `the proxy ${host} ${words}` });
  });

  it.each([
    [407, {}, 'not_sent'],
    [503, { 'X-Squid-Error': 'ERR_CONNECT_FAIL 111' }, 'not_sent'],
    // The gateway may have taken it.
    [504, { 'X-Squid-Error': 'ERR_READ_TIMEOUT 0' }, 'unanswered'],
    [503, {}, 'answered'],
  ])('that answers plain http itself with %i and %j it is %s', async (status, headers, kind) => {
    const { url } = await startProxy(port, status, headers);
    expect(await exchange('http://sms.test/send', url)).toMatchObject({ kind });
    expect(gateway.taken).toEqual([]);
  });

  it('that does not answer is named', async () => {
    const silent = createServer().on('connect', () => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => silent.closeAllConnections());
    const proxy = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const client = gatewayClient(new URL('https://sms.test'), { timeoutMs: 50, proxy }, systemClock);
    const exchanged = await client.exchange(post('https://sms.test/send'), new AbortController().signal);
    client.close();
    expect(exchanged).toEqual({ kind: 'not_sent', reason: `the proxy ${proxy.host} does not answer` });
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
    expect(await check({ url: new URL('https://sms.test'), proxy: refusing.url })).toBe(
      `the proxy ${refusing.host} does not allow sms.test:443 (HTTP 403)`,
    );
    refusing.close();
    expect(await check({ url: new URL('http://sms.test'), proxy: refusing.url })).toContain(
      `the proxy ${refusing.host} cannot be reached`,
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
