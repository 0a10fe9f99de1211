import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Urtuu } from '../../src/client/index.js';
import { clientWith, FakeSystem, failureOf, resultOf } from '../support/client.js';
import { email, reads, sends, sms, verifying } from '../support/client-methods.js';
import { json, Loopback } from '../support/loopback.js';

type Step = (response: ServerResponse, system: FakeSystem, path: string) => void;

const fails =
  (status: number, code: string, headers: Record<string, string> = {}): Step =>
  (response) =>
    json(response, status, { error: { code, message: code } }, headers);
const ok: Step = (response, _, path) => json(response, 200, resultOf(path));
const provider = fails(502, 'provider_failed');
const limited = (seconds: string) => fails(429, 'rate_limited', { 'retry-after': seconds });
const reset: Step = (response) => response.socket?.resetAndDestroy();
const hang: Step = (_, system) => system.expire();
const page: Step = (response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway');

const callersKey = Object.fromEntries(
  Object.entries(sends).map(([name, call]) => [name, (c: Urtuu) => call(c, { idempotencyKey: 'mine' })]),
);

/** Every method of a group goes through the steps; the keys of its requests, its waits and its end follow. */
interface Row {
  group: Record<string, (client: Urtuu) => Promise<unknown>>;
  steps: Step[];
  keys: (string | undefined)[];
  slept: number[];
  error?: string;
  maxRetries?: number;
}
const none = undefined;
const rows: Record<string, Row> = {
  'rate_limited waits Retry-After and resends': {
    group: { ...reads, ...verifying },
    steps: [limited('2'), limited('10'), ok],
    keys: [none, none, none],
    slept: [2_000, 10_000],
  },
  'rate_limited keeps the key': {
    group: sends,
    steps: [limited('1'), limited('1'), ok],
    keys: ['key-1', 'key-1', 'key-1'],
    slept: [1_000, 1_000],
  },
  'rate_limited over 10 s is thrown': {
    group: { ...reads, ...verifying },
    steps: [limited('11')],
    keys: [none],
    slept: [],
    error: 'rate_limited',
  },
  'recipient_rate_limited is thrown': {
    group: sends,
    steps: [fails(429, 'recipient_rate_limited', { 'retry-after': '1' })],
    keys: ['key-1'],
    slept: [],
    error: 'recipient_rate_limited',
  },
  'network failure and timeout resend a read': {
    group: reads,
    steps: [reset, hang, ok],
    keys: [none, none, none],
    slept: [500, 1_000],
  },
  'network failure, timeout and 5xx resend a send with its key': {
    group: sends,
    steps: [reset, hang, fails(503, 'unavailable'), page, ok],
    keys: Array(5).fill('key-1'),
    slept: [500, 1_000, 2_000, 4_000],
    maxRetries: 4,
  },
  'network failure, timeout and 5xx resend with the key of the caller': {
    group: callersKey,
    steps: [reset, hang, fails(500, 'of_tomorrow'), page, ok],
    keys: Array(5).fill('mine'),
    slept: [500, 1_000, 2_000, 4_000],
    maxRetries: 4,
  },
  'verify is not resent after a network failure': {
    group: verifying,
    steps: [reset],
    keys: [none],
    slept: [],
    error: 'connection_error',
  },
  'verify is not resent after a timeout': {
    group: verifying,
    steps: [hang],
    keys: [none],
    slept: [],
    error: 'timeout',
  },
  'verify is not resent after a 5xx': {
    group: verifying,
    steps: [fails(503, 'unavailable')],
    keys: [none],
    slept: [],
    error: 'unavailable',
  },
  'verify is not resent after provider_failed': {
    group: verifying,
    steps: [provider],
    keys: [none],
    slept: [],
    error: 'provider_failed',
  },
  'provider_failed resends with a new key, which later failures keep': {
    group: sends,
    steps: [reset, provider, hang, page, provider, limited('1'), ok],
    keys: ['key-1', 'key-1', 'key-2', 'key-2', 'key-2', 'key-3', 'key-3'],
    slept: [500, 1_000, 2_000, 4_000, 8_000, 1_000],
    maxRetries: 9,
  },
  'provider_failed with the key of the caller is thrown': {
    group: callersKey,
    steps: [provider],
    keys: ['mine'],
    slept: [],
    error: 'provider_failed',
  },
  'one budget for all causes': {
    group: sends,
    steps: [limited('1'), provider, reset],
    keys: ['key-1', 'key-1', 'key-2'],
    slept: [1_000, 1_000],
    error: 'connection_error',
  },
  'maxRetries 0 turns retries off': {
    group: sends,
    steps: [limited('1')],
    keys: ['key-1'],
    slept: [],
    error: 'rate_limited',
    maxRetries: 0,
  },
  'any other 4xx is thrown': {
    group: sends,
    steps: [fails(422, 'unsupported_number')],
    keys: ['key-1'],
    slept: [],
    error: 'unsupported_number',
  },
};
const cases = Object.entries(rows).flatMap(([rule, row]) =>
  Object.entries(row.group).map(([name, call]) => [rule, name, row, call] as const),
);

describe('retries (Client retries)', () => {
  it.each(cases)('%s: %s', async (_rule, _name, { steps, keys, slept, error, maxRetries }, call) => {
    const system = new FakeSystem();
    await using server = await Loopback.listen(({ path }, response, count) =>
      steps[count - 1]?.(response, system, path),
    );
    const client = clientWith(
      { baseUrl: server.origin, ...(maxRetries === undefined ? {} : { maxRetries }) },
      system,
    );

    if (error === undefined) {
      expect(await call(client)).toEqual(resultOf(server.requests[0]?.path ?? ''));
    } else {
      expect((await failureOf(call(client))).code).toBe(error);
    }

    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(keys);
    expect(system.slept).toEqual(slept);
    expect(system.running).toBe(0);
    const [first] = server.requests;
    for (const { method, path, body } of server.requests) {
      expect({ method, path, body }).toEqual({ method: first?.method, path: first?.path, body: first?.body });
    }
  });

  it('sends what the parameters were when the method was called', async () => {
    await using server = await Loopback.listen(({ path }, response, count) =>
      count < 3 ? response.socket?.destroy() : json(response, 200, resultOf(path)),
    );
    const params = { ...sms };
    const call = clientWith({ baseUrl: server.origin }).sms.send(params);
    params.to = '88112233';
    await call;
    expect(server.requests.map(({ body }) => body)).toEqual(Array(3).fill(JSON.stringify(sms)));
  });

  it('makes another key for each call', async () => {
    await using server = await Loopback.listen(({ path }, response) => json(response, 200, resultOf(path)));
    const client = clientWith({ baseUrl: server.origin });
    await Promise.all([client.sms.send(sms), client.sms.send(sms), client.email.send(email)]);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(3);
  });
});
