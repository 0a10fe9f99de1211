import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFetch } from '../../../src/cli/network/fetch.js';
import { proxyFor } from '../../../src/cli/network/proxy.js';
import { Urtuu } from '../../../src/client/index.js';
import { testKey } from '../../support/run.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handle);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

function client(port: number, options = {}) {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return new Urtuu(testKey, { baseUrl, fetch: nodeFetch({}), maxRetries: 0, ...options });
}

describe('fetch over node:http', () => {
  it('sends and reads, Cyrillic included, over one kept-alive connection', async () => {
    const bodies: string[] = [];
    const { server, port } = await serve(async (incoming, response) => {
      let body = '';
      for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
      bodies.push(`${incoming.method} ${incoming.url} ${incoming.headers['content-length']} ${body}`);
      response
        .setHeader('Content-Type', 'application/json')
        .end('{"balance": 5, "to": "Бат", "id": "m", "status": "sent"}');
    });
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const { balance, sms } = client(port);
    expect(await balance.get()).toMatchObject({ balance: 5, to: 'Бат' });
    await sms.send({ to: '99112233', text: 'ө' });
    const json = '{"to":"99112233","text":"ө"}';
    expect(bodies).toEqual(['GET /v1/balance undefined ', `POST /v1/sms ${Buffer.byteLength(json)} ${json}`]);
    expect(connections).toBe(1);
  });

  it('asks for a code over a connection of its own: without a key nothing may repeat it', async () => {
    const ports: (string | undefined)[][] = [];
    const { port } = await serve((incoming, response) => {
      ports.push([incoming.url, String(incoming.socket.remotePort)]);
      incoming.resume();
      response.end('{"balance": 5, "id": "v", "status": "pending"}');
    });
    const { balance, verify } = client(port);
    await balance.get();
    await verify.create({ to: '99112233' });
    await balance.get();
    const [[, first], [path, second], [, third]] = ports as [string[], string[], string[]];
    expect({ path, kept: second === first }).toEqual({ path: '/v1/verify', kept: false });
    expect(third).toBe(first);
  });

  it('follows no redirect', async () => {
    let requests = 0;
    const { port } = await serve((_, response) => {
      requests += 1;
      response.writeHead(302, { Location: '/v1/elsewhere' }).end();
    });
    await expect(client(port).balance.get()).rejects.toMatchObject({
      code: 'unexpected_response',
      status: 302,
    });
    expect(requests).toBe(1);
  });

  it('ends in timeout while the head or the body does not come', async () => {
    const silent = await serve(() => {});
    await expect(client(silent.port, { timeout: 50 }).balance.get()).rejects.toMatchObject({
      code: 'timeout',
    });
    const dripping = await serve((_, response) => void response.write('{"balance"'));
    await expect(client(dripping.port, { timeout: 50 }).balance.get()).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('ends in connection_error when the answer is cut, or nobody listens', async () => {
    const { port, server } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('{');
      response.socket?.destroySoon();
    });
    await expect(client(port).balance.get()).rejects.toMatchObject({ code: 'connection_error' });
    await new Promise((resolve) => server.close(resolve));
    const error = await client(port)
      .balance.get()
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'connection_error', cause: { code: 'ECONNREFUSED' } });
  });
});

describe('a proxy', () => {
  it.each([
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://a.mn/', { https_proxy: 'http://p:1', HTTPS_PROXY: 'http://q:1' }, 'http://p:1'],
    ['http://a.mn/', { HTTPS_PROXY: 'http://p:1' }, null],
    ['http://a.mn/', { HTTP_PROXY: 'http://p:1' }, 'http://p:1'],
    ['http://127.0.0.1/', { HTTP_PROXY: 'http://p:1' }, null],
    ['https://localhost/', { HTTPS_PROXY: 'http://p:1' }, null],
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'b.mn, a.mn' }, null],
    ['https://x.a.mn/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '.a.mn' }, null],
    ['https://xa.mn/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.mn' }, 'http://p:1'],
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.mn:8443' }, 'http://p:1'],
    ['https://a.mn:8443/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.mn:8443' }, null],
    ['https://a.mn/', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, null],
  ])('for %s with %j is %s', (url, env, proxy) => expect(proxyFor(new URL(url), env)).toBe(proxy));

  it('carries the request when one is set', async () => {
    const target = await serve((_, response) => void response.end('{"balance": 7}'));
    const asked: (string | undefined)[] = [];
    const proxy = await serve((incoming, response) => {
      const onward = request({ port: target.port, path: incoming.url?.replace(/^http:\/\/[^/]+/, '') });
      onward.on('response', (answer) => answer.pipe(response)).end();
    });
    proxy.server.on('connect', (incoming, socket) => {
      asked.push(incoming.url);
      const onward = connect(target.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
    });
    const fetch = nodeFetch({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
    const options = { baseUrl: 'http://service.example/v1', allowHttp: true, fetch, maxRetries: 0 };
    expect(await new Urtuu(testKey, options).balance.get()).toEqual({ balance: 7 });
    expect(asked).toEqual(['service.example:80']);
  });
});
