import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/service/http/app.js';
import { inProcess } from '../../../src/service/http/in-process.js';
import { listen } from '../../../src/service/http/listen.js';
import { arbitraryRequests } from '../../support/arbitrary-requests.js';
import { fakeOperations, goodKey, ids } from './fake-operations.js';

const numRuns = Number(process.env.URTUU_RUNS ?? 300);

const { request, bytes: anyBytes } = arbitraryRequests({ key: goodKey, ids });

/** What the send operations were called with must be what the schemas promise them. */
function isValidCall([name, params]: [string, ...unknown[]]): boolean {
  const given = params as Record<string, unknown>;
  // The operations name every entry that is not valid, of whatever type.
  const many = (value: unknown) => Array.isArray(value) && value.length > 0;
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
  const { fetch: fetchHere } = inProcess(app);
  let listening: Awaited<ReturnType<typeof listen>>;
  beforeAll(async () => {
    listening = await listen(app.answer, { port: 0 });
  });
  afterAll(() => listening.close());

  it('gets an answer below 500 and reaches operations only when it is valid', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target: { path, body }, headers }) => {
        calls.length = 0;
        const init: RequestInit = { method, headers };
        if (method !== 'GET' && method !== 'HEAD') init.body = body;
        const response = await fetchHere(new Request(`http://a${path}`, init));
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
    await fc.assert(
      fc.asyncProperty(anyBytes, async (bytes) => {
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
