import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFetch } from '../../../src/cli/network/fetch.js';
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
  it('makes the request of plain http itself, compressed or not, and sees its login alone', async () => {
    const asked: object[] = [];
    const proxy = await serve((incoming, response) => {
      const { host, 'proxy-authorization': login, 'accept-encoding': encoding } = incoming.headers;
      asked.push([incoming.method, incoming.url, host, login, encoding]);
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync('{"balance": 7}'));
    });
    const fetch = nodeFetch({ HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${proxy.port}` });
    const options = { baseUrl: 'http://service.example/v1', allowHttp: true, fetch, maxRetries: 0 };
    const { balance } = new Urtuu(testKey, options);
    for (let time = 0; time < 2; time += 1) expect(await balance.get()).toEqual({ balance: 7 });
    const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    const one = ['GET', 'http://service.example/v1/balance', 'service.example', login, 'identity'];
    expect(asked).toEqual([one, one]);
  });
});

describe('an answer that a proxy compressed', () => {
  const json = '{"id": "m", "status": "sent", "to": "Бат", "channel": "sms", "credits": 1, "balance": 1}';
  const send = async (encoding: string, body: Uint8Array) => {
    const { port } = await serve((_, response) => {
      response.setHeader('Content-Encoding', encoding).end(body);
    });
    return client(port).sms.send({ to: '99112233', text: 'x' });
  };

  it.each<[string, (text: string) => Uint8Array]>([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['identity', Buffer.from],
  ])('%s: is read, so that an accepted send is not in doubt', async (encoding, compress) => {
    expect(await send(encoding, compress(json))).toMatchObject({ id: 'm', to: 'Бат' });
  });

  it.each<[string, Uint8Array]>([
    ['gzip', gzipSync(json).subarray(0, 30)],
    ['br', Buffer.from(json)],
    ['compress', Buffer.from(json)],
    ['gzip', gzipSync(Buffer.alloc(11 * 1024 * 1024))],
    ['gzip', Buffer.alloc(0)],
  ])('%s: that is cut, wrong or too long leaves a send in doubt', async (encoding, body) => {
    await expect(send(encoding, body)).rejects.toMatchObject({ inDoubt: true, requestSent: true });
  });
});
