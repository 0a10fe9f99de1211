import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Urtuu } from '../../../src/client/index.js';
import { clientWith, FakeSystem, failureOf } from '../../support/client.js';
import { sends, sms } from '../../support/client-methods.js';
import { json, Loopback } from '../../support/loopback.js';

type Step = (response: ServerResponse, system: FakeSystem) => void;
const answers =
  (status: number, code: string, headers: Record<string, string> = {}): Step =>
  (response) =>
    json(response, status, { error: { code, message: code } }, headers);

const reset: Step = (response) => response.socket?.resetAndDestroy();
const hang: Step = (_, system) => system.expire();
const page: Step = (response) => response.writeHead(502).end('<h1>Bad Gateway');
const login: Step = (response) => response.writeHead(200).end('<h1>Sign in');
const timedOut: Step = (response) => response.writeHead(408).end('<h1>Request Timeout');
const away = answers(503, 'unavailable');
const provider = answers(502, 'provider_failed');
const limited = answers(429, 'rate_limited', { 'retry-after': '60' });
const waits = answers(429, 'rate_limited', { 'retry-after': '1' });
const capped = answers(429, 'recipient_rate_limited');
const credits = answers(402, 'insufficient_credits');
const revoked = answers(401, 'unauthorized');
const forbidden = answers(403, 'forbidden');
const invalid = answers(400, 'invalid_request');
const tooLong = answers(422, 'message_too_long');

/** The steps of one call, the code it ends with, and whether it may have sent something all the same. */
const failures: [name: string, steps: Step[], code: string, inDoubt: boolean, key: string][] = [
  ['nothing but a refusal', [credits], 'insufficient_credits', false, 'key-1'],
  ['nothing but a rate', [waits, waits, waits], 'rate_limited', false, 'key-1'],
  ['no answer at all', [reset, reset, reset], 'connection_error', true, 'key-1'],
  ['an answer that comes too late', [hang, hang, hang], 'timeout', true, 'key-1'],
  ['a 5xx', [away, away, away], 'unavailable', true, 'key-1'],
  ['a page of a proxy', [page, page, page], 'unexpected_response', true, 'key-1'],
  ['a 200 that is not of the service', [login], 'unexpected_response', true, 'key-1'],
  ['an unknown 409', [answers(409, 'conflict')], 'conflict', false, 'key-1'],
  ['an unknown 408', [answers(408, 'too_slow')], 'too_slow', false, 'key-1'],
  ['an unknown 425', [answers(425, 'too_early')], 'too_early', false, 'key-1'],
  ['no answer, then an unknown 409', [reset, answers(409, 'conflict')], 'conflict', true, 'key-1'],
  ['a 5xx, then an unknown 408', [away, answers(408, 'too_slow')], 'too_slow', true, 'key-1'],
  ['a page, then an unknown 425', [page, answers(425, 'too_early')], 'too_early', true, 'key-1'],
  ['no answer, then an unknown 4xx', [reset, answers(418, 'teapot')], 'teapot', true, 'key-1'],
  ['a 408 that is not of the service', [timedOut], 'unexpected_response', true, 'key-1'],
  ['an unknown 4xx', [answers(418, 'teapot')], 'teapot', false, 'key-1'],
  ['no answer, then a rate', [reset, limited], 'rate_limited', true, 'key-1'],
  ['no answer, then the cap of the recipient', [reset, capped], 'recipient_rate_limited', true, 'key-1'],
  ['no answer, then no credits', [hang, credits], 'insufficient_credits', true, 'key-1'],
  ['a 5xx, then a revoked key', [away, revoked], 'unauthorized', true, 'key-1'],
  ['a page, then a forbidden key', [page, forbidden], 'forbidden', true, 'key-1'],
  ['no answer, a rate, then no credits', [reset, waits, credits], 'insufficient_credits', true, 'key-1'],
  ['no answer, then a refusal of the content', [reset, invalid], 'invalid_request', false, 'key-1'],
  ['a 5xx, then a refusal of the text', [away, tooLong], 'message_too_long', false, 'key-1'],
  [
    'no answer, then provider_failed to the end',
    [reset, provider, provider],
    'provider_failed',
    false,
    'key-2',
  ],
  [
    'provider_failed, then no credits for the new key',
    [provider, credits],
    'insufficient_credits',
    false,
    'key-2',
  ],
  [
    'provider_failed, then no answer for the new key',
    [provider, reset, reset],
    'connection_error',
    true,
    'key-2',
  ],
];

async function endOf(steps: Step[], call: (client: Urtuu) => Promise<unknown>) {
  const system = new FakeSystem();
  await using server = await Loopback.listen((_, response, count) => steps[count - 1]?.(response, system));
  const error = await failureOf(call(clientWith({ baseUrl: server.origin }, system)));
  return { error, requests: server.requests };
}

describe('whether a failed send may have sent something', () => {
  for (const [name, call] of Object.entries(sends)) {
    it.each(failures)(`${name}: %s`, async (_, steps, code, inDoubt, key) => {
      const { error, requests } = await endOf(steps, call);
      expect(error).toMatchObject({ code, inDoubt, requestSent: true, idempotencyKey: key });
      expect(error.attempts).toBe(steps.length);
      expect(requests).toHaveLength(steps.length);
    });
  }

  it('is said with the key of the caller', async () => {
    const options = { idempotencyKey: 'order-7' };
    const { error } = await endOf([reset, credits], (client) => client.sms.send(sms, options));
    expect(error).toMatchObject({ code: 'insufficient_credits', inDoubt: true, idempotencyKey: 'order-7' });
  });

  it.each<[string, Step, string, boolean]>([
    ['no answer', reset, 'connection_error', true],
    ['a 5xx', away, 'unavailable', true],
    ['a page', page, 'unexpected_response', true],
    ['a wrong code', answers(422, 'invalid_code'), 'invalid_code', false],
    ['a closed verification', answers(409, 'verification_closed'), 'verification_closed', false],
    ['no credits', credits, 'insufficient_credits', false],
  ])('is said of verify without a key: %s', async (_, step, code, inDoubt) => {
    for (const call of [
      (c: Urtuu) => c.verify.create({ to: sms.to }),
      (c: Urtuu) => c.verify.check('v', { code: '1' }),
    ]) {
      const { error } = await endOf([step], call);
      expect(error).toMatchObject({ code, inDoubt, idempotencyKey: null, attempts: 1 });
    }
  });

  it('is never said of a read', async () => {
    const { error } = await endOf([reset, page, away], (client) => client.messages.get('m'));
    expect(error).toMatchObject({ code: 'unavailable', inDoubt: false, idempotencyKey: null, attempts: 3 });
  });

  it('an error has the request id of the last answer', async () => {
    const step = answers(402, 'insufficient_credits', { 'X-Request-Id': 'r-7' });
    expect((await endOf([reset, step], sends['sms.send'])).error.requestId).toBe('r-7');
    expect((await endOf([step, reset, reset], sends['sms.send'])).error.requestId).toBe('r-7');
    const silent = await endOf([away, reset, reset], sends['sms.send']);
    expect(silent.error).toMatchObject({ code: 'connection_error', requestId: null });
  });
});
