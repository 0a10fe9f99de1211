import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/service/http/app.js';
import { listen } from '../../../src/service/http/listen.js';
import type { Listening } from '../../../src/service/index.js';
import { fakeOperations, goodKey, ids } from './fake-operations.js';

const numRuns = Number(process.env.URTUU_RUNS ?? 300);

const mail = { subject: 's', text: 'x' };
const valid: [path: string, body: object][] = [
  ['/v1/sms', { to: '99112233', text: 'x' }],
  ['/v1/sms/bulk', { to: ['99112233', '88112233'], text: 'x' }],
  ['/v1/email', { to: 'a@b.mn', ...mail }],
  ['/v1/email/bulk', { to: ['a@b.mn'], ...mail }],
  ['/v1/verify', { to: '99112233' }],
  [`/v1/verify/${ids.verification}/check`, { code: '123456' }],
];
const otherPath = fc.oneof(
  fc.constantFrom('/v1/balance', `/v1/batches/${ids.batch}/messages?limit=1`),
  fc.webPath().map((tail) => `/v1${tail}`),
  fc.string().map((tail) => `/v1/messages/${encodeURIComponent(tail.replace(/\p{Surrogate}/gu, ''))}`),
  fc.webQueryParameters().map((query) => `/v1/batches/${ids.batch}/messages?${query}`),
);
const method = fc.oneof(
  { weight: 2, arbitrary: fc.constant('POST') },
  { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW') },
);
const fieldValue = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
  fc.array(fc.string()),
);
const fields = fc.dictionary(
  fc.oneof(fc.constantFrom('to', 'text', 'subject', 'html', 'code', 'channel', '__proto__'), fc.string()),
  fieldValue,
);
const damaged = fc.tuple(fields, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
  const bytes = Buffer.from(JSON.stringify(value));
  bytes[at % bytes.length] = byte;
  return bytes;
});
const otherBody = fc.oneof(
  fields.map((value) => Buffer.from(JSON.stringify(value))),
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  damaged,
);
/** A send as it should be, with nothing or a few fields replaced. */
const nearlyValid = fc
  .tuple(fc.constantFrom(...valid), fc.oneof(fc.constant({}), fields))
  .map(([[path, body], changes]) => ({ path, body: Buffer.from(JSON.stringify({ ...body, ...changes })) }));
const target = fc.oneof(
  nearlyValid,
  fc.record({ path: fc.oneof(otherPath, fc.constantFrom(...valid.map(([path]) => path))), body: otherBody }),
);
const headerValue = fc.string({ unit: 'grapheme-ascii' });
const mostly = (value: string) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: headerValue });
const headers = fc.record(
  {
    authorization: mostly(`Bearer ${goodKey}`),
    'content-type': mostly('application/json'),
    'idempotency-key': fc.oneof(fc.uuid(), headerValue),
    expect: fc.constantFrom('100-continue', 'x'),
    'x-other': headerValue,
  },
  { requiredKeys: ['authorization', 'content-type'] },
);

/** What the send operations were called with must be what the schemas promise them. */
function isValidCall([name, params]: [string, ...unknown[]]): boolean {
  const given = params as Record<string, unknown>;
  const many = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isText);
  const isText = (value: unknown) => typeof value === 'string' && !/[\0\p{Surrogate}]/u.test(value);
  switch (name) {
    case 'sendSms':
      return isText(given.to) && isText(given.text) && Object.keys(given).length === 2;
    case 'sendSmsBulk':
      return many(given.to) && isText(given.text) && Object.keys(given).length === 2;
    case 'sendEmail':
    case 'sendEmailBulk':
      return (name === 'sendEmail' ? isText : many)(given.to) && isText(given.subject);
    default:
      return true;
  }
}

describe('any request', () => {
  const { operations, calls } = fakeOperations();
  const reports: unknown[] = [];
  let reached = 0;
  const checkCalls = () => {
    expect(calls.filter((call) => !isValidCall(call))).toEqual([]);
    reached += calls.filter(([name]) => name.startsWith('send')).length;
  };
  const app = createApp(operations, { report: (error) => reports.push(error) });
  let listening: Listening;
  beforeAll(async () => {
    listening = await listen(app, { port: 0 });
  });
  afterAll(() => listening.close());

  it('gets an answer below 500 and reaches operations only when it is valid', async () => {
    await fc.assert(
      fc.asyncProperty(method, target, headers, async (method, { path, body }, headers) => {
        calls.length = 0;
        const init: RequestInit = { method, headers };
        if (method !== 'GET' && method !== 'HEAD') init.body = body;
        const response = await app.fetch(new Request(`http://a${path}`, init));
        expect(response.status).toBeLessThan(500);
        expect(response.headers.get('x-request-id')).toBeTruthy();
        const text = await response.text();
        if (method !== 'HEAD') expect(() => JSON.parse(text)).not.toThrow();
        checkCalls();
        expect(reports).toEqual([]);
      }),
      { numRuns },
    );
    expect(reached).toBeGreaterThan(0);
  });

  it('over a socket too, and bytes that are no request do not hurt the next one', async () => {
    reached = 0;
    const port = Number(new URL(listening.url).port);
    const send = (bytes: Buffer) =>
      new Promise<string>((resolve) => {
        let received = '';
        const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
        socket.on('data', (chunk) => {
          received += chunk.toString('latin1');
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve(received));
      });
    const frame = fc
      .tuple(method, target, headers, fc.boolean())
      .map(([method, { path, body }, headers, chunked]) => {
        const all = Object.entries({ ...headers, host: 'a' }).map(([name, value]) => `${name}: ${value}\r\n`);
        const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
        const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${all.join('')}${framing}\r\n\r\n`, 'latin1');
        const size = Buffer.from(`${body.length.toString(16)}\r\n`);
        return Buffer.concat(
          chunked && body.length > 0 ? [head, size, body, Buffer.from('\r\n0\r\n\r\n')] : [head, body],
        );
      });
    const noise = fc.oneof(
      fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes)),
      fc.tuple(frame, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
        bytes[at % bytes.length] = byte;
        return bytes;
      }),
      frame,
    );
    await fc.assert(
      fc.asyncProperty(noise, async (bytes) => {
        calls.length = 0;
        const statuses = [...(await send(bytes)).matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
          Number(status),
        );
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        checkCalls();
      }),
      { numRuns },
    );
    expect(reached).toBeGreaterThan(0);
    const next = await fetch(`${listening.url}/balance`, { headers: { authorization: `Bearer ${goodKey}` } });
    expect(next.status).toBe(200);
    expect(reports).toEqual([]);
  });
});
