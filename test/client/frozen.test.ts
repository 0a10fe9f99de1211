import { describe, expect, it } from 'vitest';
import { createSendFrozen, type FrozenSend } from '../../src/client/frozen.js';
import type { Urtuu, UrtuuOptions } from '../../src/client/index.js';
import { apiKey, clientWith, FakeSystem, failureOf, resultOf } from '../support/client.js';
import { type Answering, json, Loopback } from '../support/loopback.js';

const key = 'bulk-17';
const options = { idempotencyKey: key };
const sms = { to: '99112233', text: 'Сайн уу' };
const email = { to: 'a@b.mn', subject: 'Сайн уу', text: 'x' };

type Endpoint = Pick<FrozenSend, 'channel' | 'kind'>;
const endpoints: [string, Endpoint, object, (client: Urtuu) => Promise<unknown>][] = [
  ['sms.send', { channel: 'sms', kind: 'single' }, sms, (c) => c.sms.send(sms, options)],
  [
    'sms.sendBulk',
    { channel: 'sms', kind: 'batch' },
    { ...sms, to: [sms.to] },
    (c) => c.sms.sendBulk({ ...sms, to: [sms.to] }, options),
  ],
  ['email.send', { channel: 'email', kind: 'single' }, email, (c) => c.email.send(email, options)],
  [
    'email.sendBulk',
    { channel: 'email', kind: 'batch' },
    { ...email, to: [email.to] },
    (c) => c.email.sendBulk({ ...email, to: [email.to] }, options),
  ],
];

/** Everything that JSON.parse and JSON.stringify would write in another way. */
const asWritten =
  '{ "text" : "\\u0421\\u0430\\/йн\u2028 🙂", "to":["99112233" ] ,"n":1.0e0, "9":1, "1":2, "to":["88112233"] }\r\n';

function sendFrozen(baseOptions: UrtuuOptions, send: Endpoint, body: string): Promise<unknown> {
  return createSendFrozen(apiKey, baseOptions, new FakeSystem())({ ...send, body, idempotencyKey: key });
}

/** The request and the outcome of a call of either kind, against a server that answers both alike. */
async function played(answering: Answering, call: (options: UrtuuOptions) => Promise<unknown>) {
  await using server = await Loopback.listen(answering);
  const baseOptions = { baseUrl: `${server.origin}/v1`, maxRetries: 1 };
  const outcome = await call(baseOptions).then(
    (result) => ({ result }),
    (error: Error) => ({ error: JSON.parse(JSON.stringify(error).replaceAll(server.origin, '')) }),
  );
  const requests = server.requests.map(({ headers: { host: _, ...headers }, ...rest }) => ({
    ...rest,
    headers,
  }));
  return { outcome, requests };
}

describe.each(endpoints)('a frozen body, to the endpoint of %s', (_, endpoint, params, publicCall) => {
  it('goes out byte for byte', async () => {
    const { requests, outcome } = await played(
      ({ path }, response) => json(response, 200, resultOf(path)),
      (given) => sendFrozen(given, endpoint, asWritten),
    );
    expect(requests.map(({ body }) => body)).toEqual([asWritten]);
    expect(requests[0]?.headers['idempotency-key']).toBe(key);
    expect(outcome).toEqual({ result: resultOf('') });
  });

  it.each<[string, Answering]>([
    ['a success', ({ path }, response) => json(response, 200, resultOf(path))],
    ['a success that proves nothing', (_, response) => json(response, 200, { id: 'm' })],
    [
      'a refusal with fields',
      (_, response) =>
        json(response, 402, {
          error: { code: 'insufficient_credits', message: 'x', balance: 1, required: 2 },
        }),
    ],
    [
      'provider_failed',
      (_, response) => json(response, 502, { error: { code: 'provider_failed', message: 'x', id: 'm' } }),
    ],
    ['an error page, twice', (_, response) => void response.writeHead(500).end('<html>')],
    [
      'a wait, then a success',
      ({ path }, response, count) =>
        count === 1
          ? json(response, 429, { error: { code: 'rate_limited', message: 'x' } }, { 'retry-after': '1' })
          : json(response, 200, resultOf(path)),
    ],
    ['a broken connection', (_, response) => void response.socket?.destroy()],
  ])(
    'makes the requests of the public call, as those of a list, and has its result and error: %s',
    async (_, answering) => {
      const frozen = await played(answering, (given) => sendFrozen(given, endpoint, JSON.stringify(params)));
      const published = await played(answering, (given) => publicCall(clientWith(given)));
      expect(frozen).toEqual({
        ...published,
        requests: published.requests.map(({ headers, ...rest }) => ({
          ...rest,
          headers: { ...headers, 'urtuu-class': 'bulk' },
        })),
      });
    },
  );

  it('that never left is not sent, and says so', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const closed = { fetch: () => Promise.reject(refused), maxRetries: 0 };
    const error = await failureOf(sendFrozen(closed, endpoint, asWritten));
    expect(error).toMatchObject({ requestSent: false, inDoubt: false, idempotencyKey: key });
    const published = await failureOf(publicCall(clientWith(closed)));
    expect(error.toJSON()).toEqual(published.toJSON());
  });
});

it('sends of frozen bodies are no part of the public client', async () => {
  expect(Object.keys(await import('../../src/client/index.js')).sort()).toEqual(['Urtuu', 'UrtuuError']);
  expect(Object.keys(clientWith({}).sms)).toEqual([]);
});
