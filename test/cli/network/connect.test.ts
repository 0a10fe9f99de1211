import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFetch } from '../../../src/cli/network/fetch.js';
import { type FetchLike, Urtuu, type UrtuuError } from '../../../src/client/index.js';
import { failureOf } from '../../support/client.js';
import { testKey } from '../../support/run.js';

const fixtures = join(import.meta.dirname, '../../fixtures/tls');
const certificate = (name: string) => ({
  key: readFileSync(join(fixtures, 'key.pem')),
  cert: readFileSync(join(fixtures, `${name}.pem`)),
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const fetches: Record<string, (env?: Record<string, string>) => FetchLike> = {
  'fetch over node:http': (env = {}) => nodeFetch(env),
  'the global fetch': () => (url, init) => globalThis.fetch(url, init),
};
const own = 'fetch over node:http';

async function send(fetch: FetchLike, baseUrl: string, options = {}): Promise<UrtuuError> {
  const client = new Urtuu(testKey, { baseUrl, fetch, maxRetries: 0, allowHttp: true, ...options });
  return failureOf(client.sms.send({ to: '99112233', text: 'x' }));
}

describe.each(Object.entries(fetches))('%s', (name, make) => {
  it('refused: nothing left', async () => {
    const error = await send(make(), `http://127.0.0.1:${await closedPort()}/v1`);
    expect(error).toMatchObject({ code: 'connection_error', requestSent: false, inDoubt: false });
    expect(error.message).toContain('connection refused');
  });

  it('unknown host: nothing left', async () => {
    const error = await send(make(), 'https://no-such-host.invalid/v1');
    expect(error).toMatchObject({ code: 'connection_error', requestSent: false });
  });

  it.each([
    ['self-signed', 'self-signed'],
    ['unknown-issuer', 'issuer'],
  ])('a certificate that is not trusted (%s): nothing left', async (file, words) => {
    const received: string[] = [];
    const server = createTlsServer(certificate(file), (socket) =>
      socket.on('error', () => {}).on('data', (bytes) => received.push(String(bytes))),
    );
    const error = await send(make(), `https://127.0.0.1:${await listen(server)}/v1`);
    expect(error).toMatchObject({ code: 'connection_error', requestSent: false });
    expect(error.message).toContain(words);
    expect(received).toEqual([]);
  });

  it('https to a server that speaks http: nothing left', async () => {
    const port = await listen(createHttpServer());
    expect(await send(make(), `https://127.0.0.1:${port}/v1`)).toMatchObject({ requestSent: false });
  });

  it('a connection that is closed in the handshake', async () => {
    const port = await listen(createServer((socket) => socket.once('data', () => socket.destroy())));
    // The global fetch reports a reset, as it does after a request.
    const error = await send(make(), `https://127.0.0.1:${port}/v1`);
    expect(error).toMatchObject({ code: 'connection_error', requestSent: name !== own });
  });

  it('a connection that is not made in time', async () => {
    const port = await listen(createServer());
    const error = await send(make(), `https://127.0.0.1:${port}/v1`, { timeout: 100 });
    expect(error).toMatchObject({ code: 'timeout', requestSent: name !== own, inDoubt: name !== own });
    if (name === own)
      expect(error.message).toBe(`cannot connect to https://127.0.0.1:${port}/v1 within 100 ms`);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.end()],
    ['no HTTP', (socket) => socket.end('SSH-2.0-x\r\n')],
    ['cut in the head', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
  ])('%s after the request: it left', async (_, answer) => {
    const port = await listen(createServer((socket) => socket.once('data', () => answer(socket))));
    const error = await send(make(), `http://127.0.0.1:${port}/v1`);
    expect(error).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: true });
  });

  it.each([
    ['101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['101 without an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('%s in place of an answer: it left, and the call ends', async (_, head) => {
    const port = await listen(createServer((socket) => socket.once('data', () => socket.end(head))));
    const error = await send(make(), `http://127.0.0.1:${port}/v1`, { timeout: 5_000 });
    expect(error).toMatchObject({ requestSent: true, inDoubt: true });
    expect(error.code).not.toBe('timeout');
  });

  it('plain text in the midst of TLS, once the request has left: it left', async () => {
    let arrived = '';
    const server = createTlsServer(certificate('self-signed'), (socket) => {
      socket
        .on('error', () => {})
        .once('data', (data: Buffer) => {
          arrived = data.toString();
          outer?.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n');
        });
    });
    const inner = await listen(server);
    let outer: Socket | undefined;
    const port = await listen(
      createServer((socket) => {
        outer = socket;
        const onward = connect(inner, '127.0.0.1').on('error', () => {});
        socket.pipe(onward).pipe(socket, { end: false });
      }),
    );
    const trusting: FetchLike = (url, init) => {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
      return make()(url, init);
    };
    const error = await send(trusting, `https://127.0.0.1:${port}/v1`).finally(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    expect(arrived).toContain('POST /v1/sms');
    expect(error).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: true });
    expect(error.message).not.toContain('cannot connect');
  });

  it('reset on a kept connection, then refused: it left', async () => {
    const server = createHttpServer((incoming, response) => {
      if (incoming.method === 'GET') return response.end('{"balance": 1}');
      server.close();
      return response.socket?.resetAndDestroy();
    });
    const baseUrl = `http://127.0.0.1:${await listen(server)}/v1`;
    const client = new Urtuu(testKey, { baseUrl, fetch: make(), maxRetries: 1 });
    await client.balance.get();
    const error = await failureOf(client.sms.send({ to: '99112233', text: 'x' }));
    expect(error).toMatchObject({ attempts: 2, requestSent: true, inDoubt: true });
    expect(error.message).toContain('cannot connect');
  });
});

describe('a proxy', () => {
  const through = async (
    port: number,
    { baseUrl = 'https://sms.example.mn/v1', login = '', timeout = 5_000 } = {},
  ) => {
    const address = `http://${login}127.0.0.1:${port}`;
    return send(nodeFetch({ HTTPS_PROXY: address, HTTP_PROXY: address }), baseUrl, { timeout });
  };
  const plain = { baseUrl: 'http://sms.example.mn/v1' };
  const words = (port: number, rest: string) => `: the proxy 127.0.0.1:${port} ${rest}`;

  it.each([
    [403, '', 'does not allow sms.example.mn:443 (HTTP 403) (PROXY_REFUSED)'],
    [407, '', 'needs a user name and password (HTTP 407) (PROXY_LOGIN)'],
    [407, 'me:secret@', 'does not accept the user name and password (HTTP 407) (PROXY_LOGIN)'],
    [503, '', 'got no answer from sms.example.mn:443 (HTTP 503) (PROXY_REFUSED)'],
    [400, '', 'refused the request (HTTP 400) (PROXY_REFUSED)'],
  ])('that answers CONNECT with %d is named: nothing left', async (status, login, rest) => {
    const server = createHttpServer();
    server.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\n{}`));
    const port = await listen(server);
    const error = await through(port, { login });
    expect(error).toMatchObject({ code: 'connection_error', requestSent: false, inDoubt: false });
    expect(error.message).toContain(words(port, rest));
    expect(error.message).not.toContain('secret');
  });

  /** As Squid 5.7 and tinyproxy 1.11 answer. */
  it.each([
    [407, {}, 'Proxy Authentication Required', false],
    [
      403,
      { 'X-Squid-Error': 'ERR_ACCESS_DENIED 0', 'X-Cache-Lookup': 'NONE from vm:3128' },
      'Forbidden',
      false,
    ],
    [
      403,
      { 'X-Squid-Error': 'ERR_ACCESS_DENIED 0', 'X-Cache-Lookup': 'MISS from vm:3128' },
      'Forbidden',
      true,
    ],
    [503, { 'X-Squid-Error': 'ERR_CONNECT_FAIL 111' }, 'Service Unavailable', false],
    [502, { 'X-Squid-Error': 'ERR_ZERO_SIZE_OBJECT 0' }, 'Bad Gateway', true],
    [504, { 'X-Squid-Error': 'ERR_READ_TIMEOUT 0' }, 'Gateway Timeout', true],
    [401, { Server: 'tinyproxy/1.11.1' }, 'Unauthorized', false],
    [403, { Server: 'tinyproxy/1.11.1' }, 'Filtered', false],
    [500, { Server: 'tinyproxy/1.11.1' }, 'Unable to connect', false],
    [500, { Server: 'tinyproxy/1.11.1' }, 'Unable to retrieve', true],
  ])(
    'that answers plain http with %d and %j is named, in doubt only if it may have passed it on',
    async (status, headers, message, left) => {
      const port = await listen(
        createHttpServer((_, response) => void response.writeHead(status, message, headers).end('<html>')),
      );
      const error = await through(port, plain);
      expect(error).toMatchObject({ code: 'connection_error', requestSent: left, inDoubt: left });
      expect(error.message).toContain(`: the proxy 127.0.0.1:${port} `);
      expect(error.message).toContain(`(HTTP ${status})`);
    },
  );

  it('that passes on what the service refuses is not blamed', async () => {
    const port = await listen(
      createHttpServer((_, response) => void response.writeHead(403).end('{"code":"forbidden"}')),
    );
    expect(await through(port, plain)).toMatchObject({ code: 'forbidden', status: 403, inDoubt: false });
  });

  it('that refuses the connection, or closes it: nothing left', async () => {
    const port = await closedPort();
    for (const options of [plain, {}]) {
      const error = await through(port, options);
      expect(error).toMatchObject({ requestSent: false });
      expect(error.message).toContain(words(port, 'cannot be reached: connect ECONNREFUSED'));
    }
    const server = createHttpServer();
    server.on('connect', (_, socket) => socket.destroy());
    expect(await through(await listen(server))).toMatchObject({ requestSent: false });
  });

  it('that does not answer is named: of a tunnel nothing left', async () => {
    const port = await listen(createServer());
    const error = await through(port, { timeout: 100 });
    expect(error).toMatchObject({ code: 'timeout', requestSent: false, inDoubt: false });
    expect(error.message).toContain(`within 100 ms${words(port, 'does not answer')}`);
    const left = await through(port, { ...plain, timeout: 100 });
    expect(left).toMatchObject({ code: 'timeout', requestSent: true, inDoubt: true });
    expect(left.message).toContain(words(port, 'returned no answer'));
  });

  it('that lets the request through and then breaks off: it left', async () => {
    const server = createHttpServer((_, response) => void response.destroy());
    server.on('connect', (_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.once('data', () => socket.destroy());
    });
    const port = await listen(server);
    expect(await through(port, plain)).toMatchObject({ requestSent: true, inDoubt: true });
    // Here the TLS handshake is what is broken off.
    expect(await through(port)).toMatchObject({ requestSent: false });
  });
});
