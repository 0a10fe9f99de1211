import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultBounds } from '../../../src/service/http/connections.js';
import { connectionsWithin, openFilesLimit } from '../../../src/service/http/open-files.js';
import { sms } from './fake-operations.js';
import { head, read, serve } from './raw-client.js';

describe('the bound on connections', () => {
  it('leaves a quarter of the files that the process may open to others', () => {
    expect(connectionsWithin(1_024)).toBe(768);
    expect(connectionsWithin(256)).toBe(192);
    expect(connectionsWithin(524_288)).toBe(defaultBounds.connections);
    expect(connectionsWithin(null)).toBe(defaultBounds.connections);
  });

  it('knows the limit of this process, with /proc and without', () => {
    const limits = (text: string) => () => `Limit Soft Limit Hard Limit Units\n${text}\n`;
    expect(
      openFilesLimit(limits('Max open files            1024                 524288               files')),
    ).toBe(1_024);
    expect(
      openFilesLimit(limits('Max open files            unlimited            unlimited            files')),
    ).toBeNull();
    const withoutProc = openFilesLimit(() => {
      throw new Error('ENOENT');
    });
    expect(withoutProc).toBe(process.platform === 'win32' ? null : openFilesLimit());
  });
});

/** A service with one place, which a read that never ends has. */
async function full(options: { now?: () => number; bounds?: { leaving: number } } = {}) {
  const begun = new EventEmitter();
  const shed: number[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { open, reports, listening } = await serve(
    {
      getBalance: () => {
        begun.emit('read');
        return held.then(() => ({ balance: 1_000 }));
      },
    },
    {
      ...(options.now && { now: options.now }),
      bounds: { connections: 1, ...options.bounds },
      shed: () => shed.push(1),
    },
  );
  open().say(read());
  await once(begun, 'read');
  onTestFinished(release);
  return { open, shed, reports, port: Number(new URL(listening.url).port) };
}

/** What a client got that sends all before it reads, and how its connection ended. */
async function lateReader(port: number): Promise<{ text: string; error: string | null }> {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  let error = null as string | null;
  socket.on('error', (one: NodeJS.ErrnoException) => {
    error = one.code ?? one.message;
  });
  const closed = once(socket, 'close').catch(() => {});
  await once(socket, 'connect');
  socket.write(head('Content-Length: 60000') + 'x'.repeat(60_000));
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await closed;
  return { text, error };
}

describe('a newcomer without a place', () => {
  it('gets its answer, never a reset, whatever it has sent already', async () => {
    const { port, shed } = await full();
    const all = await Promise.all(Array.from({ length: 40 }, () => lateReader(port)));
    for (const { text, error } of all) {
      expect(error).toBeNull();
      expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r[\s\S]*"unavailable"/);
    }
    expect(shed).toHaveLength(40);
  });

  it('that does not leave makes room for the next', async () => {
    const { open } = await full({ bounds: { leaving: 2 } });
    const staying = [];
    for (let each = 0; each < 3; each += 1) {
      const client = open();
      client.socket.removeAllListeners('end');
      await client.hears('unavailable');
      staying.push(client);
    }
    // It has read the end already: it hears of more when it writes.
    while (staying[0]?.socket.destroyed === false) {
      staying[0].say('x');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(staying[2]?.socket.destroyed).toBe(false);
    for (const { socket } of staying) socket.destroy();
  });

  it('is in the log at once, and once a minute', async () => {
    let now = 0;
    const { open, reports } = await full({ now: () => now });
    for (let each = 0; each < 3; each += 1) await open().closed;
    now = 60_000;
    await open().closed;
    expect(reports.map(String)).toEqual([
      expect.stringMatching(/: 1 connection was turned away: all 1 were in use$/),
      expect.stringMatching(/: 3 connections were turned away: all 1 were in use$/),
    ]);
  });
});

it('a client that takes none of its answers is ended after the write timeout, and not after two', async () => {
  const writeTimeout = 1_000;
  const begun = new EventEmitter();
  const newRequestId = () => {
    begun.emit('request');
    return sms.id;
  };
  const { open } = await serve({}, { writeTimeout, bounds: { connections: 1 }, app: { newRequestId } });
  const client = open();
  client.socket.pause();
  client.say('GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(400));
  await once(begun, 'request');
  // It holds the only place until then.
  const newcomer = () => open().say(read('/v1/pricing').replace('\r\n', '\r\nConnection: close\r\n')).closed;
  const began = performance.now();
  while (!(await newcomer()).includes(' 200 OK'));
  const took = performance.now() - began;
  expect(took).toBeGreaterThan(writeTimeout * 0.85);
  expect(took).toBeLessThan(writeTimeout * 1.7);
});
