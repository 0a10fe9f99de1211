import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { realSystem, type System } from '../../src/client/system.js';
import { clientWith, failureOf } from '../support/client.js';
import { json, Loopback } from '../support/loopback.js';

const limit = 10 * 1024 * 1024;
const sms = { to: '99112233', text: 'x' };
const none = { maxRetries: 0 };
const raw = (text: string) => (response: ServerResponse) => response.socket?.end(text);

/** What a read ends with when the server does this to it. */
async function endOf(answer: (response: ServerResponse) => void) {
  await using server = await Loopback.listen((_, response) => answer(response));
  const error = await failureOf(clientWith({ baseUrl: server.origin, ...none }).balance.get());
  return { error, requests: server.requests };
}

/** The same, but it returns only when the client has closed the connection. */
async function endAndCloseOf(answer: (response: ServerResponse) => void, timeout: number) {
  let closed: Promise<unknown> = Promise.resolve();
  await using server = await Loopback.listen((_, response) => {
    closed = new Promise((resolve) => response.socket?.on('close', resolve));
    answer(response);
  });
  const client = clientWith({ baseUrl: server.origin, ...none, timeout }, realSystem);
  const error = await failureOf(client.balance.get());
  await closed;
  return error;
}

describe('answers that are not of the service', () => {
  const page = '<!doctype html><title>502</title>';
  it.each<[string, number, (response: ServerResponse) => void]>([
    ['HTML with 200', 200, (r) => r.writeHead(200, { 'content-type': 'text/html' }).end(page)],
    ['HTML with 502', 502, (r) => r.writeHead(502, { 'content-type': 'text/html' }).end(page)],
    ['HTML with 429', 429, (r) => r.writeHead(429, { 'retry-after': '1' }).end(page)],
    ['204', 204, (r) => r.writeHead(204).end()],
    ['nothing with 200', 200, (r) => r.writeHead(200).end()],
    ['301', 301, (r) => r.writeHead(301, { location: '/v1/sms' }).end('{}')],
    ['302 without a body', 302, (r) => r.writeHead(302, { location: '/' }).end()],
    ['307 with a JSON error', 307, (r) => json(r, 307, { error: { code: 'not_found' } }, { location: '/' })],
    ['308', 308, (r) => r.writeHead(308, { location: 'http://127.0.0.1:1/' }).end()],
    ['304', 304, (r) => r.writeHead(304).end()],
    ['a JSON array', 200, (r) => json(r, 200, [])],
    ['null', 200, (r) => json(r, 200, null)],
    ['a JSON string', 200, (r) => json(r, 200, 'ok')],
    ['JSON cut short, its length unknown', 200, raw('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"id":')],
    ['bytes that are no UTF-8', 200, (r) => r.writeHead(200).end(Buffer.from('{"a":"\xff"}', 'latin1'))],
    ['an error without a code', 400, (r) => json(r, 400, { error: { message: 'no' } })],
    ['an error whose code is no string', 422, (r) => json(r, 422, { error: { code: 7 } })],
    ['an error with an empty code', 422, (r) => json(r, 422, { error: { code: '' } })],
    ['an error that is a string', 500, (r) => json(r, 500, { error: 'Internal Server Error' })],
    ['an error that is null', 400, (r) => json(r, 400, { error: null })],
    ['an error that is a list', 400, (r) => json(r, 400, { error: [{ code: 'not_found' }] })],
    ['an empty object', 404, (r) => json(r, 404, {})],
  ])('%s is unexpected_response with status %d', async (_, status, answer) => {
    const { error, requests } = await endOf(answer);
    expect(error).toMatchObject({ code: 'unexpected_response', status });
    expect(error.message).toContain(`HTTP ${status}`);
    expect('cause' in error).toBe(false);
    expect(requests).toHaveLength(1);
  });

  it.each([
    [308, 'https://login.example.mn/sign-in?next=secret', 'https://login.example.mn'],
    [302, '//proxy.example.mn/secret', 'http://proxy.example.mn'],
    [301, '/elsewhere', null],
  ])('a redirect (%i) to %s names its origin alone', async (status, location, origin) => {
    const { error, requests } = await endOf((response) => response.writeHead(status, { location }).end());
    const named = origin ?? `http://${requests[0]?.headers.host}`;
    expect(error.message).toBe(`HTTP ${status}: redirected to ${named} (a proxy, or a wrong base URL)`);
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it.each(['javascript:alert(1)', 'http://['])(
    'a redirect to nowhere is as any other: %j',
    async (location) => {
      const { error } = await endOf((response) => response.writeHead(302, { location }).end());
      expect(error.message).toBe('HTTP 302: the answer did not come from the service');
    },
  );

  it.each([
    [limit, 'is read'],
    [limit + 1, 'is not'],
  ])('a body of %d bytes %s, and its connection is closed when it is not', async (size) => {
    let ended: Promise<unknown> = Promise.resolve();
    await using server = await Loopback.listen((_, response) => {
      ended = new Promise((resolve) => response.on('close', () => resolve(response.writableFinished)));
      response.write(`{"balance":1}${' '.repeat(size - 13)}`);
      if (size <= limit) response.end();
    });
    const call = clientWith({ baseUrl: server.origin, ...none }).balance.get();
    if (size <= limit) expect(await call).toEqual({ balance: 1 });
    else expect(await failureOf(call)).toMatchObject({ code: 'unexpected_response', status: 200 });
    expect(await ended).toBe(size <= limit);
  });

  it('a redirect whose body never ends is not waited for, and its connection is closed', async () => {
    const error = await endAndCloseOf((response) => {
      response.writeHead(302, { location: '/' }).write('{"a":');
    }, 30_000);
    expect(error).toMatchObject({ code: 'unexpected_response', status: 302 });
  });
});

describe('errors of the service', () => {
  const base = {
    status: 422,
    retryAfter: null,
    requestSent: true,
    inDoubt: false,
    idempotencyKey: null,
    requestId: null,
    attempts: 1,
  };
  it.each<[string, unknown, object]>([
    [
      'an envelope',
      { error: { code: 'invalid_code', message: 'wrong', attempts_remaining: 2 } },
      { ...base, code: 'invalid_code', message: 'wrong', attempts_remaining: 2 },
    ],
    [
      'fields at the top level',
      { code: 'insufficient_credits', message: 'low', balance: 3, required: 10 },
      { ...base, code: 'insufficient_credits', message: 'low', balance: 3, required: 10 },
    ],
    [
      'fields beside an envelope',
      { error: { code: 'invalid_request', message: 'bad' }, invalid: ['1', '2'] },
      { ...base, code: 'invalid_request', message: 'bad', invalid: ['1', '2'] },
    ],
    [
      'a code beside a string',
      { error: 'Not Found', code: 'not_found', message: 'no such id' },
      { ...base, code: 'not_found', message: 'no such id' },
    ],
    [
      'a failed message',
      { error: { code: 'provider_failed', message: 'no', id: 'm1' } },
      { ...base, code: 'provider_failed', message: 'no', id: 'm1' },
    ],
    [
      'an unknown code',
      { error: { code: 'of_tomorrow', id: 'x', balance: 1 } },
      { ...base, code: 'of_tomorrow' },
    ],
    ['a field of another code', { error: { code: 'not_found', id: 'x' } }, { ...base, code: 'not_found' }],
    ['a code of Object', { error: { code: 'constructor' } }, { ...base, code: 'constructor' }],
    ['wrong numbers', { error: { code: 'insufficient_credits', balance: '3', required: null } }, base],
    ['a wrong count', { error: { code: 'invalid_code', attempts_remaining: [1] } }, base],
    ['wrong entries', { error: { code: 'invalid_request', invalid: ['a', 1] } }, base],
    ['entries that are no list', { error: { code: 'invalid_request', invalid: 'all' } }, base],
    ['a wrong id', { error: { code: 'provider_failed', id: { a: 1 } } }, base],
    ['a wrong message', { error: { code: 'not_found', message: { a: 1 } } }, base],
  ])('%s', async (_, body, expected) => {
    const { error } = await endOf((response) => json(response, 422, body));
    expect({ ...error, message: error.message }).toEqual({
      code: error.code,
      message: expect.stringMatching(/./),
      ...expected,
    });
    expect(error.code).not.toBe('unexpected_response');
  });

  it('names at most 50 invalid entries', async () => {
    const invalid = Array.from({ length: 60 }, (_, index) => String(index));
    const { error } = await endOf((r) => json(r, 400, { error: { code: 'invalid_request', invalid } }));
    expect(error.invalid).toEqual(invalid.slice(0, 50));
  });

  it.each([
    ['7', 7],
    ['soon', null],
  ])('gives Retry-After %j as %j seconds', async (header, seconds) => {
    const { error } = await endOf((r) =>
      json(r, 429, { error: { code: 'recipient_rate_limited' } }, { 'retry-after': header }),
    );
    expect(error).toMatchObject({ code: 'recipient_rate_limited', status: 429, retryAfter: seconds });
  });
});

describe('a network that fails', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  it.each<[string, (response: ServerResponse) => void]>([
    ['closes without an answer', (r) => r.socket?.end()],
    ['resets', (r) => r.socket?.resetAndDestroy()],
    ['cuts in the head', raw('HTTP/1.1 200 OK\r\ncontent-ty')],
    ['talks no HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n')],
    ['cuts a body of known length', raw(`${head}content-length: 50\r\n\r\n{"balance":1}`)],
    ['cuts a chunked body', raw(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"bal`)],
    ['garbles the chunks', raw(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n{"bal\r\n0\r\n\r\n`)],
    ['garbles gzip', raw(`${head}content-encoding: gzip\r\ncontent-length: 13\r\n\r\n{"balance":1}`)],
    [
      'resets in the body',
      (r) => r.socket?.write(`${head}content-length: 50\r\n\r\n{"b`, () => r.socket?.resetAndDestroy()),
    ],
  ])('%s: connection_error', async (_, answer) => {
    const { error } = await endOf(answer);
    expect(error).toMatchObject({ code: 'connection_error', status: null, retryAfter: null });
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('refuses the connection: connection_error that names ECONNREFUSED', async () => {
    const server = await Loopback.listen(() => {});
    const { origin } = server;
    await server[Symbol.asyncDispose]();
    const error = await failureOf(clientWith({ baseUrl: origin, ...none }).balance.get());
    expect(error).toMatchObject({ code: 'connection_error', status: null });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['never answers', () => {}],
    ['stops in the head', (r) => r.socket?.write('HTTP/1.1 200 OK\r\n')],
    ['stops after the head', (r) => r.writeHead(200, { 'content-length': '50' }).flushHeaders()],
    ['stops in the body', (r) => r.writeHead(200, { 'content-length': '50' }).write('{"a":')],
    ['stops in the body of an error', (r) => r.writeHead(422, { 'content-length': '50' }).write('{"a":')],
    [
      'drips',
      (r) => {
        r.writeHead(200);
        const drip = setInterval(() => r.write(' '), 5);
        r.on('close', () => clearInterval(drip));
      },
    ],
  ])('%s: timeout, and the connection is closed', async (_, answer) => {
    const error = await endAndCloseOf(answer, 60);
    expect(error).toMatchObject({ code: 'timeout', status: null, retryAfter: null });
    expect(error.cause).toMatchObject({ name: 'TimeoutError' });
  });

  it('answers one byte at a time, in the midst of characters: a result', async () => {
    const answer = { id: 'm', status: 'sent', text: 'Сайн байна уу 😀' };
    await using server = await Loopback.listen((_, response) => {
      const bytes = [...Buffer.from(JSON.stringify(answer))];
      const next = (): void => {
        const byte = bytes.shift();
        if (byte === undefined) response.end();
        else response.write(Buffer.from([byte]), () => setImmediate(next));
      };
      next();
    });
    expect(await clientWith({ baseUrl: server.origin }).messages.get('m')).toEqual(answer);
  });

  it('follows no redirect, whatever it is told', async () => {
    const status = [301, 302, 303, 307, 308];
    await using elsewhere = await Loopback.listen((_, response) => json(response, 200, { id: 'x' }));
    await using server = await Loopback.listen((_, response, count) =>
      response.writeHead(status[count - 1] ?? 200, { location: elsewhere.origin }).end(),
    );
    for (const code of status) {
      const error = await failureOf(clientWith({ baseUrl: server.origin }).sms.send(sms));
      expect(error).toMatchObject({ code: 'unexpected_response', status: code });
    }
    expect(elsewhere.requests).toEqual([]);
  });

  it('leaves no timer behind', async () => {
    await using server = await Loopback.listen((_, response, count) =>
      count === 1 ? json(response, 200, { balance: 1 }) : response.socket?.destroy(),
    );
    const held = new Set<object>();
    const counting: System = {
      ...realSystem,
      after(milliseconds, run) {
        const stop = realSystem.after(milliseconds, run);
        const timer = {};
        held.add(timer);
        return () => {
          stop();
          held.delete(timer);
        };
      },
    };
    const client = clientWith({ baseUrl: server.origin, ...none }, counting);
    await client.balance.get();
    await failureOf(client.balance.get());
    expect(held.size).toBe(0);
  });
});
