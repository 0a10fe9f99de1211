import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { goodKey } from './fake-operations.js';
import { body, bytes, chunk, head, heldSend, read, sends, serve, wholeSend } from './raw-client.js';

describe('over a socket', () => {
  it('takes a body in chunks, and keeps the connection', async () => {
    const { open, calls } = await serve();
    const client = open().say(head('Transfer-Encoding: chunked'));
    for (const character of body) client.say(chunk(character));
    await client.say('0\r\n\r\n').hears('balance');
    await client.say(read()).hears('{"balance":1000}');
    expect(client.statuses()).toEqual([200, 200]);
    expect(sends(calls)).toBe(1);
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

  it.each([
    ['closed its side', 'end'],
    ['reset the connection', 'resetAndDestroy'],
  ] as const)('tells a call that waits for events that its client has %s', async (_, leave) => {
    const told = new EventEmitter();
    const [begun, ended] = [once(told, 'begun'), once(told, 'ended')];
    const { open } = await serve({
      async listEvents(_caller, _query, whenEnded) {
        const stop = whenEnded?.(() => told.emit('ended'));
        told.emit('begun');
        await ended;
        stop?.();
        return { data: [], next: 'a00000000001-0' };
      },
    });
    const client = open().say(read('/v1/events?wait=20'));
    await begun;
    client.socket[leave]();
    expect(await ended).toEqual([]);
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
    expect(await client.closed).toContain('The body must be valid JSON');
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

  it.each([
    ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: identity, chunked'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding: chunked, chunked'],
    ['Transfer-Encoding: xchunked'],
    ['Transfer-Encoding: identity'],
    ['Transfer-Encoding:'],
    ['Transfer-Encoding: chunked;a=b'],
    ['Transfer-Encoding: identity', `Content-Length: ${bytes}`],
  ])('%s %s is no request, and ends its connection', async (...headers) => {
    const { open, calls } = await serve();
    const client = open().say(`${head(...headers)}${chunk(body)}0\r\n\r\n${read()}`);
    const answer = await client.closed;
    expect(client.statuses()).toEqual([400]);
    expect(answer).toMatch(/^Connection: close\r$/m);
    expect(calls).toEqual([]);
  });

  it('chunks in HTTP/1.0 are no request', async () => {
    const { open } = await serve();
    const client = open().say(
      `${head('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0')}${chunk(body)}0\r\n\r\n`,
    );
    expect(await client.closed).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('the coding of a body in chunks may be in capitals', async () => {
    const { open } = await serve();
    await open()
      .say(`${head('Transfer-Encoding: Chunked')}${chunk(body)}0\r\n\r\n`)
      .hears(' 200 OK');
  });

  it('two lengths at once are not a request', async () => {
    const { open, calls } = await serve();
    const smuggled = head('Transfer-Encoding: chunked', 'Content-Length: 5') + chunk(body);
    expect(await open().say(smuggled).closed).toContain(' 400 ');
    expect(calls).toEqual([]);
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['a header without a name', 'GET /v1/balance HTTP/1.1\r\n: x\r\n\r\n', 400],
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
