import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type AppOptions, createApp } from '../../../src/service/http/app.js';
import { type ListenOptions, listen } from '../../../src/service/http/listen.js';
import type { Listening } from '../../../src/service/index.js';
import type { Answer, Operations } from '../../../src/service/operations/operations.js';
import { fakeOperations, goodKey, sms } from './fake-operations.js';

const opened: Listening[] = [];
afterEach(() => Promise.all(opened.splice(0).map((listening) => listening.close())));

async function serve(
  overrides: Partial<Operations> = {},
  { app: appOptions, ...options }: ListenOptions & { app?: AppOptions } = {},
) {
  const { operations, calls } = fakeOperations(overrides);
  const reports: unknown[] = [];
  const app = createApp(operations, { report: (error) => reports.push(error), ...appOptions });
  const listening = await listen(app, { port: 0 }, { closeTimeout: 2_000, ...options });
  opened.push(listening);
  return { listening, calls, reports, open: () => new Client(Number(new URL(listening.url).port)) };
}

/** A raw connection: says exactly what it is told, and collects what comes back. */
class Client {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<string>;
  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => {
      this.received += chunk.toString('utf8');
    });
    this.socket.on('end', () => this.socket.end());
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve(this.received)));
  }
  say(text: string): this {
    this.socket.write(text);
    return this;
  }
  async hears(what: string | RegExp): Promise<string> {
    while (this.received.search(what) === -1) await once(this.socket, 'data');
    return this.received;
  }
  statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  }
}

const body = JSON.stringify({ to: '99112233', text: 'Сайн уу' });
const bytes = Buffer.byteLength(body);
function head(...lines: string[]): string {
  const all = ['Host: a', `Authorization: Bearer ${goodKey}`, 'Content-Type: application/json', ...lines];
  return `POST /v1/sms HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}
const wholeSend = (key = 'k') => head(`Content-Length: ${bytes}`, `Idempotency-Key: ${key}`) + body;
const read = (path = '/v1/balance') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${goodKey}\r\n\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const sends = (calls: unknown[][]) => calls.filter(([name]) => name === 'sendSms').length;

/** A send that waits until the test lets it go. */
function heldSend() {
  const gate = new EventEmitter();
  const released = once(gate, 'release');
  const started = once(gate, 'start');
  let finished = 0;
  const sendSms = async (): Promise<Answer> => {
    gate.emit('start');
    await released;
    finished += 1;
    return { status: 200, body: sms, replayed: false };
  };
  return { sendSms, started, release: () => gate.emit('release'), finished: () => finished };
}

describe('over a socket', () => {
  it('answers with every header and the length', async () => {
    const { open } = await serve();
    const answer = await open().say(wholeSend()).hears('balance');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    for (const header of [
      /^X-Request-Id: [0-9a-f-]{36}\r$/m,
      /^X-RateLimit-Limit: 40\r$/m,
      /^Content-Length: \d+\r$/m,
    ])
      expect(answer).toMatch(header);
  });

  it('takes a body in chunks, and keeps the connection', async () => {
    const { open, calls } = await serve();
    const client = open().say(head('Transfer-Encoding: chunked'));
    for (const character of body) client.say(chunk(character));
    await client.say('0\r\n\r\n').hears('balance');
    await client.say(read()).hears('{"balance":1000}');
    expect(client.statuses()).toEqual([200, 200]);
    expect(sends(calls)).toBe(1);
  });

  it('HEAD has no body', async () => {
    const { open } = await serve();
    const client = open().say(read().replace('GET', 'HEAD') + read('/v1/pricing'));
    expect(await client.hears('max_parts')).not.toContain('{"balance"');
  });

  it('takes HTTP/1.0 without a host', async () => {
    const { open } = await serve();
    const client = open().say(`GET /v1/balance HTTP/1.0\r\nAuthorization: Bearer ${goodKey}\r\n\r\n`);
    expect(await client.closed).toMatch(/ 200 OK[\s\S]*\{"balance":1000\}$/);
  });

  it('answers pipelined requests in their order', async () => {
    const { sendSms, release } = heldSend();
    const { open } = await serve({ sendSms });
    const client = open().say(wholeSend() + read() + read('/v1/nowhere'));
    release();
    await client.hears('no such route');
    expect(client.statuses()).toEqual([200, 200, 404]);
  });

  it('answers a client that has closed its side', async () => {
    const held = heldSend();
    const { open } = await serve({ sendSms: held.sendSms });
    const client = open();
    client.socket.end(wholeSend());
    await held.started;
    await open().say(read()).hears('balance');
    held.release();
    expect(await client.closed).toContain(' 200 OK');
  });

  it('finishes an accepted send whose client is gone', async () => {
    const held = heldSend();
    const { open, reports, listening } = await serve({ sendSms: held.sendSms });
    const client = open().say(wholeSend());
    await held.started;
    client.socket.resetAndDestroy();
    await client.closed;
    held.release();
    await listening.close();
    expect(held.finished()).toBe(1);
    expect(reports).toEqual([]);
  });

  it('drops the connection where a fault asks for it', async () => {
    const { open, calls } = await serve({}, { app: { faultFor: () => 'drop_after' } });
    expect(await open().say(wholeSend()).closed).toBe('');
    expect(sends(calls)).toBe(1);
    expect(await open().say(wholeSend()).hears('balance')).toContain('Idempotency-Replayed: true');
    expect(sends(calls)).toBe(1);
  });

  it('asks for a body that waits for 100 Continue, but not for one that it refuses', async () => {
    const { open } = await serve();
    const client = open().say(head(`Content-Length: ${bytes}`, 'Expect: 100-continue'));
    await client.hears('100 Continue');
    await client.say(body).hears(' 200 OK');
    const refused = open().say(head('Content-Length: 2000000', 'Expect: 100-continue'));
    expect(await refused.closed).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n/);
  });
});

describe('Size limits, request body, over a socket', () => {
  it('refuses a claimed length before the body comes', async () => {
    const { open, calls } = await serve();
    const client = open().say(head('Content-Length: 1000001'));
    expect(await client.hears('request_too_large')).toContain(' 413 ');
    expect(calls).toEqual([]);
  });

  it('refuses an endless body in chunks', async () => {
    const { open, calls } = await serve();
    const client = open().say(head('Transfer-Encoding: chunked'));
    const piece = chunk('x'.repeat(64_000));
    for (let sent = 0; sent < 17; sent += 1) client.say(piece);
    expect(await client.hears('request_too_large')).toContain(' 413 ');
    client.socket.end();
    await client.closed;
    expect(calls).toEqual([]);
  });

  it('takes what follows a length that is too short for another request, which is none', async () => {
    const { open, calls } = await serve();
    const client = open().say(head('Content-Length: 5') + body);
    expect(await client.closed).toContain('the body must be valid JSON');
    expect(client.statuses()[0]).toBe(400);
    expect(calls).toEqual([]);
  });

  it('does not act on a body that ends before its length', async () => {
    const { open, calls, reports } = await serve();
    const client = open();
    client.socket.end(head(`Content-Length: ${bytes + 1}`) + body);
    expect(await client.closed).toContain(' 400 ');
    expect(calls).toEqual([]);
    expect(reports).toEqual([]);
  });

  it.each(['1e3', '-1', '9'.repeat(40), '10, 11'])('a length of %s is no request', async (length) => {
    const { open, calls } = await serve();
    expect(await open().say(head(`Content-Length: ${length}`) + body).closed).toContain(' 400 ');
    expect(calls).toEqual([]);
  });

  it('two lengths at once are no request', async () => {
    const { open, calls } = await serve();
    const smuggled = head('Transfer-Encoding: chunked', 'Content-Length: 5') + chunk(body);
    expect(await open().say(smuggled).closed).toContain(' 400 ');
    expect(calls).toEqual([]);
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['noise', 'hello\r\n\r\n', 400],
    ['a header without a name', 'GET /v1/balance HTTP/1.1\r\n: x\r\n\r\n', 400],
    ['too many header bytes', `GET /v1/balance HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a host that is none', 'GET /v1/balance HTTP/1.1\r\nHost: a/b@c\r\n\r\n', 400],
    ['a chunk size that is none', `${head('Transfer-Encoding: chunked')}zz\r\n`, 400],
  ])('%s gets the envelope', async (_name, text, status) => {
    const { open, calls } = await serve();
    const answer = await open().say(text).closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/^X-Request-Id: [0-9a-f-]{36}\r$/im);
    expect(answer).toMatch(/^X-RateLimit-Limit: 10\r$/im);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error: { code: 'invalid_request' },
    });
    expect(calls).toEqual([]);
  });

  it('in the body of a second request leave the answer of the first alone', async () => {
    const held = heldSend();
    const { open, calls } = await serve({ sendSms: held.sendSms });
    const client = open().say(`${wholeSend()}${head('Transfer-Encoding: chunked')}zz\r\n`);
    await held.started;
    await open().say(read()).hears('balance');
    held.release();
    await client.closed;
    expect(client.statuses()).toEqual([200]);
    expect(sends(calls)).toBe(0);
  });

  it('in a body that is refused already get no second answer', async () => {
    const { open } = await serve();
    const client = open().say(head('Transfer-Encoding: chunked').replace(goodKey, 'no'));
    await client.hears('unauthorized');
    client.say('zz\r\n');
    await client.closed;
    expect(client.statuses()).toEqual([401]);
  });

  it('after a send do not take the answer of that send', async () => {
    const held = heldSend();
    const { open } = await serve({ sendSms: held.sendSms });
    const client = open().say(`${wholeSend()}noise\r\n\r\n`);
    await held.started;
    await open().say(read()).hears('balance');
    expect(client.received).toBe('');
    held.release();
    await client.closed;
    expect(client.statuses()).toEqual([200]);
  });
});

describe('slow clients', () => {
  const impatient = { headersTimeout: 200, requestTimeout: 400 };

  it('are cut off while they hold back their headers', async () => {
    const { open } = await serve({}, impatient);
    const client = open().say('GET /v1/balance HTTP/1.1\r\nHost: a\r\n');
    expect(await client.closed).toMatch(/^HTTP\/1\.1 503 [\s\S]*"unavailable"/);
  });

  it('are cut off while they hold back their body, and nothing is sent', async () => {
    const { open, calls, reports } = await serve({}, impatient);
    const client = open().say(head(`Content-Length: ${bytes}`) + body.slice(0, 5));
    expect(await client.closed).toMatch(/^HTTP\/1\.1 503 [\s\S]*"unavailable"/);
    expect(client.statuses()).toEqual([503]);
    expect(calls).toEqual([]);
    expect(reports).toEqual([]);
  });

  it('do not hold up others', async () => {
    const { open } = await serve({}, { headersTimeout: 5_000 });
    const slow = Array.from({ length: 200 }, () => open().say('GET /v1/balance HTTP/1.1\r\n'));
    await Promise.all(slow.map((client) => once(client.socket, 'connect')));
    expect(await open().say(read()).hears('balance')).toContain(' 200 OK');
    for (const client of slow) client.socket.destroy();
  });

  it('get their answer when it is the service that is slow', async () => {
    const held = heldSend();
    const { open } = await serve({ sendSms: held.sendSms }, { headersTimeout: 50, requestTimeout: 50 });
    const client = open().say(wholeSend());
    await held.started;
    // Longer than every timeout: they are about requests that arrive, not about answers.
    const probe = open().say('GET');
    await probe.closed;
    held.release();
    expect(await client.hears('balance')).toContain(' 200 OK');
  });
});

describe('close', () => {
  it('takes no new connection, answers what has arrived, then resolves', async () => {
    const held = heldSend();
    const { open, listening } = await serve({ sendSms: held.sendSms });
    const client = open().say(wholeSend());
    await held.started;
    let closed = false;
    const closing = listening.close().then(() => {
      closed = true;
    });
    const late = open();
    expect(await late.closed).toBe('');
    expect(closed).toBe(false);
    held.release();
    const answer = await client.closed;
    expect(answer).toContain(' 200 OK');
    expect(answer).toMatch(/^Connection: close\r$/m);
    await closing;
    expect(held.finished()).toBe(1);
  });

  it('answers pipelined requests that have arrived', async () => {
    const held = heldSend();
    const { open, listening } = await serve({ sendSms: held.sendSms });
    const client = open().say(wholeSend() + read());
    await held.started;
    const closing = listening.close();
    held.release();
    await closing;
    await client.closed;
    expect(client.statuses()).toEqual([200, 200]);
  });

  it('waits for the rest of a body that has begun to arrive', async () => {
    const { open, listening, calls } = await serve();
    const client = open().say(head(`Content-Length: ${bytes}`, 'Expect: 100-continue'));
    await client.hears('100 Continue');
    const closing = listening.close();
    client.say(body);
    expect(await client.closed).toContain(' 200 OK');
    await closing;
    expect(sends(calls)).toBe(1);
  });

  it('does not wait for connections that are idle or say nothing', async () => {
    const { open, listening } = await serve({}, { closeTimeout: 60_000 });
    const idle = open().say(read());
    await idle.hears('balance');
    const silent = open();
    const half = open().say('GET /v1/bal');
    await Promise.all(
      [silent, half].map(({ socket }) => socket.readyState === 'open' || once(socket, 'connect')),
    );
    await open().say(read()).hears('balance');
    await listening.close();
    await Promise.all([idle.closed, silent.closed, half.closed]);
  });

  it('does not wait longer than it may', async () => {
    const held = heldSend();
    const { open, listening } = await serve({ sendSms: held.sendSms }, { closeTimeout: 50 });
    const client = open().say(wholeSend());
    await held.started;
    await listening.close();
    expect(await client.closed).toBe('');
    held.release();
  });

  it('twice is once', async () => {
    const { listening } = await serve();
    await Promise.all([listening.close(), listening.close()]);
    await listening.close();
  });
});

describe('listen', () => {
  it('gives the base URL of a client', async () => {
    const { listening } = await serve();
    expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const response = await fetch(`${listening.url}/balance`, {
      headers: { authorization: `Bearer ${goodKey}` },
    });
    expect(await response.json()).toEqual({ balance: 1000 });
  });

  it('rejects when the port is taken', async () => {
    const { listening } = await serve();
    const app = createApp(fakeOperations().operations);
    await expect(listen(app, { port: Number(new URL(listening.url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('leaves the globals alone', async () => {
    const before = [globalThis.Request, globalThis.Response];
    await serve();
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });
});
