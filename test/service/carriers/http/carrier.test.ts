import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Carrier, OutcomeUnknown, type SubmitResult } from '../../../../src/service/carriers/carrier.js';
import { gatewayCarrier } from '../../../../src/service/carriers/http/gateway.js';
import type { GatewayRoute } from '../../../../src/service/carriers/http/gateway-route.js';
import { ManualClock } from '../../../../src/service/clock.js';
import { ownRouteRates } from '../../../../src/service/storage/route-limits.js';
import { answer, bytes, FaultyGateway } from '../../../support/gateway.js';
import { submissionOf, until } from '../../../support/smpp.js';
import { carrierConformance } from '../conformance/carrier.js';
import { gatewayRoute } from './gateway-routes.js';

let gateway: FaultyGateway;
let port: number;
let clock: ManualClock;
let carrier: Carrier;
const stopping: Carrier[] = [];

beforeEach(async () => {
  gateway = new FaultyGateway();
  port = await gateway.listen();
  clock = new ManualClock(Date.UTC(2026, 10, 22));
});
afterEach(async () => {
  for (const each of stopping.splice(0)) await passed(each.stop());
  await gateway.close();
});

const field = { path: 'status', is: ['0'] };
const gzipped = (body: object) => gzipSync(JSON.stringify(body));
const endless: FaultyGateway['react'] = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const more = () => {
    if (!response.destroyed) response.write('          ', () => setImmediate(more));
  };
  more();
};

function carrierOf(changes: Partial<GatewayRoute> = {}): Carrier {
  const route = gatewayRoute({
    url: new URL(`http://127.0.0.1:${port}/send`),
    accepted: { status: [200], field, match: null },
    refused: { status: null, field: { path: 'status', is: ['6', '7'] }, match: null },
    unknownRecipient: { status: null, field: { path: 'status', is: ['7'] }, match: null },
    id: { path: 'id' },
    perSecond: 1_000_000,
    ...changes,
  });
  const made = gatewayCarrier({
    routes: [route],
    clock,
    limits: ownRouteRates(clock),
    report() {},
    recipientOf: async () => null,
  });
  stopping.push(made);
  return made;
}

async function open(changes: Partial<GatewayRoute> = {}): Promise<void> {
  carrier = carrierOf(changes);
  await carrier.start(async () => {});
}

/** A result, for which time passes. */
async function passed<Result>(promise: Promise<Result>, step = 1_000): Promise<Result> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  for (let tick = 0; tick < 300 && !isDone; tick += 1) {
    // Another thread decompresses, and needs the processor.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (let rest = 0; rest < 200 && !isDone; rest += 1) await new Promise(setImmediate);
    if (!isDone) clock.advance(step);
  }
  return promise;
}

const submission = (reference: string) => submissionOf(reference, { route: 'gateway' });
const submit = (reference = 'm1', signal = new AbortController().signal) =>
  passed(carrier.submit(submission(reference), signal));
const outcome = (submitting: Promise<SubmitResult> = submit()): Promise<SubmitResult | OutcomeUnknown> =>
  submitting.catch((error) => {
    if (error instanceof OutcomeUnknown) return error;
    throw error;
  });

describe('a submission', () => {
  it('is one request, and accepted with its id', async () => {
    await open();
    expect(await submit()).toEqual({ kind: 'accepted', carrierIds: ['g1'] });
    expect(gateway.taken).toMatchObject([
      { method: 'POST', url: '/send', fields: { to: '97699112233', text: 'Hi' } },
    ]);
  });

  it.each([
    [answer(401), { kind: 'later', scope: 'account', code: 'HTTP 401' }],
    [answer(404, { status: '0' }), { kind: 'later', scope: 'account' }],
    [answer(429), { kind: 'later', scope: 'rate', code: 'HTTP 429' }],
    [answer(429, {}, { 'Retry-After': '7' }), { scope: 'rate', retryAfterMs: 7_000 }],
    [
      answer(429, {}, { 'Retry-After': 'Sun, 22 Nov 2026 00:00:09 GMT' }),
      { scope: 'rate', retryAfterMs: 9_000 },
    ],
    [answer(429, {}, { 'Retry-After': '99999999' }), { scope: 'rate', retryAfterMs: 3_600_000 }],
    [answer(200, { status: '7' }), { kind: 'refused', tryNextRoute: true, isUnknownRecipient: true }],
    [answer(200, { status: '6' }), { kind: 'refused', tryNextRoute: true, code: 'HTTP 200 6' }],
    [answer(200, { status: 0 }), { kind: 'accepted', carrierIds: [] }],
    [answer(200, gzipped({ status: 0 }), { 'Content-Encoding': 'gzip' }), { kind: 'accepted' }],
    [
      bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"st\r\n8\r\natus":0}\r\n0\r\n\r\n'),
      { kind: 'accepted' },
    ],
    [
      bytes('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n'),
      { scope: 'rate' },
    ],
  ])('answered %#', async (react, expected) => {
    await open();
    gateway.react = react;
    expect(await submit()).toMatchObject(expected);
    expect(gateway.taken).toHaveLength(1);
  });

  it.each([
    ['a 2xx that nobody described', answer(200, { status: '99' })],
    ['a 204', bytes('HTTP/1.1 204 No Content\r\n\r\n')],
    ['a redirect', answer(302, {}, { Location: '/elsewhere' })],
    ['a 500', answer(500, { status: 'error' })],
    ['a 503 with Retry-After', answer(503, {}, { 'Retry-After': '1' })],
    ['a 408', answer(408)],
    ['a 409', answer(409)],
    ['a web page', answer(200, '<html>Welcome</html>')],
    ['no HTTP', bytes('SSH-2.0-OpenSSH_9.2\r\n')],
    ['another protocol', bytes('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')],
    ['headers without an end', bytes(`HTTP/1.1 200 OK\r\n${'X-More: 1\r\n'.repeat(20_000)}`)],
    ['the end of the connection', bytes('')],
    ['the cut of the connection', ({ socket }) => socket?.resetAndDestroy()],
    ['silence', () => {}],
    ['10 MB', answer(200, JSON.stringify({ status: '0', more: 'x'.repeat(10_000_000) }))],
    ['an answer without an end', endless],
    ['an encoding that nobody asked for', answer(200, { status: '0' }, { 'Content-Encoding': 'br' })],
    ['a broken gzip', answer(200, { status: '0' }, { 'Content-Encoding': 'gzip' })],
    [
      'a gzip of 10 MB',
      answer(200, gzipped({ more: 'x'.repeat(10_000_000) }), { 'Content-Encoding': 'gzip' }),
    ],
  ] satisfies [string, FaultyGateway['react']][])('is unknown after %s', async (_, react) => {
    await open();
    gateway.react = react;
    const unknown = await outcome();
    expect(unknown).toBeInstanceOf(OutcomeUnknown);
    expect((unknown as OutcomeUnknown).pausedBy).not.toBeNull();
    expect(gateway.taken).toHaveLength(1);
  });

  it('is unknown wherever its answer is cut', async () => {
    await open();
    const body = JSON.stringify({ status: '0', id: 'g1' });
    const whole = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let at = 0; at < whole.length; at += 10) {
      gateway.react = bytes(whole.slice(0, at));
      expect(await outcome()).toBeInstanceOf(OutcomeUnknown);
    }
    gateway.react = bytes(whole);
    expect(await submit()).toMatchObject({ kind: 'accepted' });
  });

  it('was certainly not taken where it cannot be reached, or nobody trusts who is there', async () => {
    await open();
    await gateway.close();
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane', code: 'ECONNREFUSED' });
    carrier = carrierOf({ url: new URL('https://nowhere.invalid/') });
    await carrier.start(async () => {});
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane' });
    gateway = new FaultyGateway();
    carrier = carrierOf({ url: new URL(`https://127.0.0.1:${await gateway.listen()}/`) });
    await carrier.start(async () => {});
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane' });
    expect(gateway.taken).toEqual([]);
  });

  it('was certainly not taken where the connection is not made in 10 s', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port: deaf } = silent.address() as AddressInfo;
    await open({ url: new URL(`https://127.0.0.1:${deaf}/`), timeoutMs: 30_000 });
    const begun = clock.monotonic();
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane', code: 'it cannot be reached' });
    expect(clock.monotonic() - begun).toBe(10_000);
    silent.close();
  });

  it('goes to nobody whose certificate is not trusted', async () => {
    const folder = join(import.meta.dirname, '../../../fixtures/tls');
    const key = readFileSync(join(folder, 'key.pem'));
    const cert = readFileSync(join(folder, 'self-signed.pem'));
    const other = new FaultyGateway(createTlsServer({ key, cert }) as never);
    await open({ url: new URL(`https://127.0.0.1:${await other.listen()}/`) });
    expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane' });
    expect(other.taken).toEqual([]);
    await other.close();
  });

  it('that was stopped before it began was not taken, and is unknown after', async () => {
    await open();
    expect(await submit('m1', AbortSignal.abort())).toMatchObject({ kind: 'later', scope: 'lane' });
    expect(gateway.taken).toEqual([]);
    gateway.react = () => {};
    const abort = new AbortController();
    const submitting = outcome(carrier.submit(submission('m1'), abort.signal));
    await until(() => gateway.taken.length === 1);
    abort.abort();
    expect(await submitting).toBeInstanceOf(OutcomeUnknown);
  });
});

describe('a connection', () => {
  it('is used again at once, and not 2 s later', async () => {
    await open();
    for (let index = 0; index < 20; index += 1) await submit();
    expect(gateway.connections).toBe(1);
    clock.advance(2_001);
    await submit();
    expect(gateway.connections).toBe(2);
  });

  it('is not used again where the gateway closes it soon', async () => {
    await open();
    gateway.react = answer(200, { status: '0' }, { 'Keep-Alive': 'timeout=1' });
    await submit();
    await submit();
    expect(gateway.connections).toBe(2);
  });

  it('is not used again once it has answered twice', async () => {
    await open();
    const one = (id: string) => {
      const body = JSON.stringify({ status: '0', id });
      return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    let last = null as ServerResponse['socket'];
    gateway.react = ({ socket }, _, index) => {
      last = socket;
      socket?.write(one(`g${index}`));
    };
    for (let index = 0; index < 5; index += 1) {
      expect(await submit()).toEqual({ kind: 'accepted', carrierIds: [`g${index}`] });
      // Of an earlier request, late.
      last?.write(one('other'));
      for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate);
    }
    expect(gateway.connections).toBe(5);
  });

  it('that is closed while it is idle costs nothing', async () => {
    await open();
    await submit();
    gateway.cut();
    for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate);
    expect(await submit()).toMatchObject({ kind: 'accepted' });
  });
});

describe('the window of a route', () => {
  const reserve = (count: number) =>
    Promise.all(Array.from({ length: count }, () => carrier.reserve?.('gateway', false)));

  it('has as many places as may be under way, singles first', async () => {
    await open({ concurrent: 3 });
    const held = await reserve(3);
    const order: string[] = [];
    const waiting = [false, true].map((isSingle) =>
      carrier.reserve?.('gateway', isSingle).then((place) => {
        order.push(isSingle ? 'single' : 'batch');
        return place;
      }),
    );
    held[0]?.release();
    await until(() => order.length === 1);
    expect(order).toEqual(['single']);
    held[1]?.release();
    held[1]?.release();
    expect(await Promise.all(waiting)).toHaveLength(2);
  });

  it('has one place after an unknown answer, until one is known', async () => {
    await open({ concurrent: 3 });
    gateway.react = answer(500);
    await outcome();
    const [first] = await reserve(1);
    let count = 0;
    const counted = () => {
      count += 1;
    };
    for (let index = 0; index < 2; index += 1) void reserve(1).then(counted);
    for (let tick = 0; tick < 50; tick += 1) await new Promise(setImmediate);
    expect(count).toBe(0);
    gateway.react = answer(429);
    await passed((first as NonNullable<typeof first>).submit(submission('m2'), new AbortController().signal));
    await until(() => count === 2);
  });

  it('keeps the rate, and returns what was not used', async () => {
    await open({ perSecond: 10, concurrent: 100 });
    const begun = clock.monotonic();
    for (let index = 0; index < 20; index += 1)
      await passed(carrier.submit(submission(`m${index}`), new AbortController().signal), 10);
    expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(1_800);
    expect(carrier.capacity('gateway')).toBe(50);
    await carrier.lowerRate?.('gateway', 0);
    expect(carrier.factor?.('gateway')).toBe(0.5);
  });

  it('is closed by a stop or two, which wait for what is under way and then leave it unknown', async () => {
    await open({ timeoutMs: 120_000 });
    gateway.react = () => {};
    const submitting = outcome(carrier.submit(submission('m1'), new AbortController().signal));
    await until(() => gateway.taken.length === 1);
    const stopped = passed(Promise.all([carrier.stop(), carrier.stop()]));
    expect(carrier.capacity('gateway')).toBe(0);
    expect(await carrier.reserve?.('gateway', true)).toBeNull();
    await stopped;
    expect(await submitting).toBeInstanceOf(OutcomeUnknown);
    await carrier.start(async () => {});
    gateway.react = answer(200, { status: '0' });
    expect(await submit()).toMatchObject({ kind: 'accepted' });
  });
});

carrierConformance({
  name: 'gateway',
  canInquire: false,
  async open(handles) {
    const conforming = new FaultyGateway();
    port = await conforming.listen();
    const template = { form: { to: '{number}', text: '{text}', ref: '{id}' }, in: 'body' } as const;
    return {
      carriers: Array.from({ length: handles }, () => carrierOf({ template, concurrent: 100 })),
      submission: { channel: 'sms', route: 'gateway', to: '99112233', text: 'Hi' },
      taken: async () => conforming.taken.map(({ fields }) => fields.ref ?? ''),
      close: () => conforming.close(),
    };
  },
});
