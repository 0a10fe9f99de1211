import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goodKey } from './fake-operations.js';
import { body, bytes, head, read, sends, serve, wholeSend } from './raw-client.js';

const envelope = (answer: string) => JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error;
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;

function heldReads() {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const getBalance = () => {
    begun += 1;
    return new Promise<{ balance: number }>((resolve) => waiting.push(() => resolve({ balance: 1000 })));
  };
  const release = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  return { getBalance, begun: () => begun, release };
}

describe('malformed requests (HTTP conventions of the service)', () => {
  it('an Expect with more than 100-continue is refused', async () => {
    const { open, calls } = await serve();
    const answer = await open()
      .say(head(`Content-Length: ${bytes}`, 'Expect: 100-continue, x') + body)
      .hears(/"message"/);
    expect(answer).toMatch(/^HTTP\/1\.1 417 [\s\S]*\r\nX-RateLimit-Limit: 40\r\n/);
    expect(envelope(answer).code).toBe('invalid_request');
    expect(sends(calls)).toBe(0);
  });

  it('two idempotency keys are refused by every POST', async () => {
    const { open, calls } = await serve();
    const send = head(`Content-Length: ${bytes}`, 'Idempotency-Key: a', 'Idempotency-Key: b') + body;
    const answer = await open()
      .say(send.replace('/v1/sms', '/v1/verify'))
      .hears(/"message"/);
    expect(envelope(answer).message).toBe('Idempotency-Key: must appear only once');
    expect(sends(calls)).toBe(0);
  });

  it('the body of identity encoding is read', async () => {
    const { open } = await serve();
    await open()
      .say(head(`Content-Length: ${bytes}`, 'Content-Encoding: identity') + body)
      .hears(' 200 OK');
  });
});

describe('GET /v1/openapi.json', () => {
  const request = (...more: string[]) => lines('GET /v1/openapi.json HTTP/1.1', 'Host: a', ...more);
  it('has an ETag, and 304 for who has it already', async () => {
    const { open } = await serve();
    const client = open().say(request());
    const tag = /^ETag: (.+)\r$/m.exec(await client.hears(/"openapi":"3\.1\.0"[\s\S]*\}$/))?.[1] ?? '';
    expect(tag).toMatch(/^"[\w-]+"$/);
    const second = open().say(request(`If-None-Match: "x", W/${tag}`, 'Connection: close'));
    const answer = await second.closed;
    expect(answer).toMatch(/^HTTP\/1\.1 304 /);
    expect(answer).toMatch(/\r\n\r\n$/);
  });
});

describe('a connection with many requests', () => {
  /** Balances that are read only when the test says so. */
  it('has at most 8 of them worked on, is not read meanwhile, and gets every answer in order', async () => {
    const held = heldReads();
    const { open } = await serve({ getBalance: held.getBalance });
    const client = open();
    for (let sent = 0; sent < 30; sent += 1) client.say(read(sent === 29 ? '/v1/nowhere' : '/v1/balance'));
    // A second connection's answer says that the first one's requests have been looked at.
    await open().say(read('/v1/pricing')).hears('max_parts');
    expect(held.begun()).toBe(8);
    while (client.statuses().length < 30) {
      held.release();
      await Promise.race([once(client.socket, 'data'), new Promise((resolve) => setImmediate(resolve))]);
    }
    expect(client.statuses()).toEqual([...Array<number>(29).fill(200), 404]);
    expect(held.begun()).toBe(29);
  });

  it('gets the answer to a body that arrives behind 8 unanswered requests', async () => {
    const held = heldReads();
    const { open, calls } = await serve({ getBalance: held.getBalance });
    const client = open().say(read().repeat(8) + head(`Content-Length: ${bytes}`) + body.slice(0, 4));
    await open().say(read('/v1/pricing')).hears('max_parts');
    client.say(body.slice(4));
    held.release();
    await client.hears('"to":"99112233"');
    expect(client.statuses()).toEqual(Array(9).fill(200));
    expect(sends(calls)).toBe(1);
  });

  it('is dropped when all of them together have too many waiting', async () => {
    const held = heldReads();
    const { open } = await serve({ getBalance: held.getBalance }, { bounds: { waiting: 20 } });
    const first = open().say(read().repeat(20));
    await open().say(read('/v1/pricing')).hears('max_parts');
    const second = open().say(read().repeat(40));
    expect(await second.closed).toBe('');
    while (first.statuses().length < 20) {
      held.release();
      await Promise.race([once(first.socket, 'data'), new Promise((resolve) => setImmediate(resolve))]);
    }
    await open().say(read('/v1/pricing')).hears('max_parts');
  });

  it('makes an error only for each request worked on when it is dropped', async () => {
    const held = heldReads();
    const { open } = await serve({ getBalance: held.getBalance }, { bounds: { waiting: 20 } });
    let stacks = 0;
    const { prepareStackTrace } = Error;
    onTestFinished(() => {
      Error.prepareStackTrace = prepareStackTrace;
    });
    Error.prepareStackTrace = ({ message }) => {
      if (message === 'aborted') stacks += 1;
      return message;
    };
    expect(await open().say(read().repeat(200)).closed).toBe('');
    await open().say(read('/v1/pricing')).hears('max_parts');
    expect(held.begun()).toBe(8);
    expect(stacks).toBe(8);
    held.release();
  });

  it('is not ended while the service is slow', async () => {
    const held = heldReads();
    const { open } = await serve({ getBalance: held.getBalance }, { writeTimeout: 50, keepAliveTimeout: 50 });
    const client = open().say(read());
    const idle = open().say(read('/v1/pricing'));
    await idle.closed;
    held.release();
    await client.hears('{"balance":1000}');
  });
});

describe('more connections than there may be', () => {
  it('close the one that was idle longest, so that a newcomer is answered', async () => {
    const { open } = await serve({}, { bounds: { connections: 3 } });
    const idle = [open(), open(), open()];
    for (const client of idle) await client.say(read()).hears('balance');
    await open().say(read()).hears('balance');
    await idle[0]?.closed;
    await idle[2]?.say(read('/v1/pricing')).hears('max_parts');
  });

  it('are told to come again where all are at work', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun = new EventEmitter();
    const getBalance = () => {
      begun.emit('read');
      return held.then(() => ({ balance: 1000 }));
    };
    const { open } = await serve({ getBalance }, { bounds: { connections: 2 } });
    const busy = [];
    for (let each = 0; each < 2; each += 1) {
      busy.push(open().say(read()));
      await once(begun, 'read');
    }
    const answer = await open().say(wholeSend()).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r[\s\S]*"unavailable"/);
    release();
    for (const client of busy) await client.hears('{"balance":1000}');
  });
});

describe('requests on all connections', () => {
  it('are told to come again where too many are being answered', async () => {
    const held = heldReads();
    const { open } = await serve({ getBalance: held.getBalance }, { bounds: { answering: 3 } });
    const busy = open().say(read().repeat(3));
    while (held.begun() < 3) await new Promise((resolve) => setImmediate(resolve));
    const answer = await open().say(wholeSend()).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r[\s\S]*"unavailable"/);
    while (busy.statuses().length < 3) {
      held.release();
      await Promise.race([once(busy.socket, 'data'), new Promise((resolve) => setImmediate(resolve))]);
    }
    await open().say(read('/v1/pricing')).hears('max_parts');
  });
});

describe('over TLS', () => {
  const pem = (name: string) => readFileSync(join(import.meta.dirname, '../../fixtures/tls', name), 'utf8');
  const tls = { cert: pem('unknown-issuer.pem'), key: pem('key.pem') };
  const dial = async (port: number) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: pem('ca.pem') });
    await once(socket, 'secureConnect');
    return socket;
  };
  const heard = async (socket: TLSSocket, what: string) => {
    let text = '';
    while (!text.includes(what)) text += (await once(socket, 'data'))[0];
    return text;
  };

  it('the connection that is idle longest makes room for a new one', async () => {
    const { listening } = await serve({}, { bounds: { connections: 2 }, tls });
    expect(listening.url).toMatch(/^https:/);
    const port = Number(new URL(listening.url).port);
    const first = await dial(port);
    const second = await dial(port);
    const closed = once(first, 'close');
    for (const socket of [first, second]) {
      socket.write(read());
      await heard(socket, 'balance');
    }
    const third = await dial(port);
    third.write(read('/v1/pricing'));
    await heard(third, 'max_parts');
    await closed;
    second.write(read('/v1/pricing'));
    await heard(second, 'max_parts');
    for (const socket of [second, third]) socket.destroy();
  });

  it.each([
    ['sms.example.mn', true],
    ['192.0.2.7:7788', true],
    ['localhost:7788', false],
    ['127.0.0.1', false],
    ['[::1]:7788', false],
  ])('browsers of %s are told to stay with TLS: %s', async (host, isTold) => {
    const { listening } = await serve({}, { tls });
    const socket = await dial(Number(new URL(listening.url).port));
    for (const request of [
      lines('GET /healthz HTTP/1.1', `Host: ${host}`),
      lines('GET / HTTP/1.1', `Host: ${host}`, 'Expect: x'),
    ]) {
      socket.write(request);
      const answer = await heard(socket, '}');
      expect(/^Strict-Transport-Security: max-age=31536000\r$/m.test(answer)).toBe(isTold);
    }
    socket.destroy();
  });

  it('one that never shakes hands is closed', async () => {
    const { listening } = await serve({}, { headersTimeout: 100, tls });
    const stranger = connect({ port: Number(new URL(listening.url).port), host: '127.0.0.1' });
    stranger.resume();
    stranger.on('error', () => {});
    await once(stranger, 'close');
  });
});

describe('listen', () => {
  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::1', '[::1]'],
    ['::', '[::1]'],
  ])('on %s gives a URL that can be connected to', async (host, shown) => {
    const { listening } = await serve({}, { host });
    expect(new URL(listening.url).hostname).toBe(shown);
    const response = await fetch(`${listening.url}/balance`, {
      headers: { authorization: `Bearer ${goodKey}` },
    });
    expect(response.status).toBe(200);
  });
});
