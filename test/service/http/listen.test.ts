import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../../src/service/http/app.js';
import { ConnectionDropped } from '../../../src/service/http/inject-fault.js';
import { listen } from '../../../src/service/http/listen.js';
import { fakeOperations, goodKey } from './fake-operations.js';
import { body, bytes, head, heldSend, read, sends, serve, wholeSend } from './raw-client.js';

describe('slow clients', () => {
  const impatient = { headersTimeout: 200, requestTimeout: 400 };

  it('are cut off while they hold back their headers', async () => {
    const { open } = await serve({}, impatient);
    const client = open().say('GET /v1/balance HTTP/1.1\r\nHost: a\r\n');
    expect(await client.closed).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*"unavailable"/);
  });

  it('are cut off while they hold back their body, and nothing is sent', async () => {
    const { open, calls, reports } = await serve({}, impatient);
    const client = open().say(head(`Content-Length: ${bytes}`) + body.slice(0, 5));
    expect(await client.closed).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*"unavailable"/);
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
    const { open } = await serve({ sendSms: held.sendSms }, { headersTimeout: 500, requestTimeout: 500 });
    const client = open().say(wholeSend());
    await held.started;
    // Longer than every timeout: they are about requests that arrive, not about answers.
    const probe = open().say('GET');
    await probe.closed;
    held.release();
    expect(await client.hears('balance')).toContain(' 200 OK');
  });
});

describe('an idle connection', () => {
  it('is kept 75 s, longer than by proxies, and announces 15 to clients', async () => {
    const { open } = await serve();
    const timeouts = vi.spyOn(Socket.prototype, 'setTimeout');
    onTestFinished(() => timeouts.mockRestore());
    const last = () => timeouts.mock.calls.at(-1)?.[0];
    const client = open();
    for (let request = 1; request <= 2; request += 1) {
      client.say(read());
      while (client.statuses().length < request) await once(client.socket, 'data');
      await vi.waitFor(() => expect(last()).toBe(75_000));
    }
    expect(client.received).toMatch(/^Keep-Alive: timeout=15\r$/m);
    // The second request ended that: a client that does not read is found sooner.
    const all = timeouts.mock.calls.map(([ms]) => ms);
    expect(all[all.indexOf(75_000) + 1]).toBe(3_000);
  });
});

describe('an error that ends a connection', () => {
  it.each([
    [new TypeError('no answer'), 1],
    [new ConnectionDropped(), 0],
  ])('%s is reported %i times', async (error, times) => {
    const reports: unknown[] = [];
    const reject = () => Promise.reject(error);
    const listening = await listen(reject, { port: 0 }, { report: (fault) => reports.push(fault) });
    await expect(fetch(`${listening.url}/balance`)).rejects.toThrow('fetch failed');
    await listening.close();
    expect(reports).toEqual(Array(times).fill(error));
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
    const { answer } = createApp(fakeOperations().operations);
    await expect(listen(answer, { port: Number(new URL(listening.url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('leaves the globals alone', async () => {
    const before = [globalThis.Request, globalThis.Response];
    await serve();
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });
});
