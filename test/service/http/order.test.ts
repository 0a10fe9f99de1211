import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import { createApp } from '../../../src/service/http/app.js';
import { everyScope } from '../../../src/service/storage/admission.js';
import type { KeyScope } from '../../../src/service/storage/records.js';
import { fakeOperations, type Given, type Overrides, openApp, request } from './fake-operations.js';

const empty: Overrides = { rateLimit: { allowed: false, limit: 40, remaining: 0, retryAfter: 2 } };
const bound: Overrides = { bound: { status: 202, body: { id: 'first' }, replayed: true } };
const capped: Overrides = {
  sendSms: async () => {
    throw new ServiceError('recipient_rate_limited', 'over the cap', { retryAfter: 60 });
  },
};
const good = { to: '99112233', text: 'hi' };
const badKey = { authorization: 'Bearer no' };
const key = { 'idempotency-key': 'k1' };

/** One break per check, and the answer it gets alone. */
const checks: Record<string, { given: Given; operations?: Overrides; code: string; status: number }> = {
  key: { given: { headers: badKey }, code: 'unauthorized', status: 401 },
  scope: { given: {}, operations: { scope: [] }, code: 'forbidden', status: 403 },
  rate: { given: {}, operations: empty, code: 'rate_limited', status: 429 },
  method: { given: { method: 'PUT' }, code: 'method_not_allowed', status: 405 },
  'media type': {
    given: { headers: { 'content-type': 'text/plain' } },
    code: 'unsupported_media_type',
    status: 415,
  },
  size: { given: { body: `{"text":"${'x'.repeat(1_000_000)}` }, code: 'request_too_large', status: 413 },
  syntax: { given: { body: '{' }, code: 'invalid_request', status: 400 },
  'idempotency key': { given: { headers: key }, operations: bound, code: 'replayed', status: 202 },
  fields: { given: { body: { to: 5 } }, code: 'invalid_request', status: 400 },
  caps: { given: {}, operations: capped, code: 'recipient_rate_limited', status: 429 },
};

async function answerTo(...names: string[]) {
  const broken = names.map((name) => checks[name] as (typeof checks)[string]);
  const { operations } = fakeOperations(Object.assign({}, ...broken.map((check) => check.operations)));
  const given: Given = Object.assign({ body: good }, ...broken.map((check) => check.given), {
    headers: Object.assign({}, ...broken.map((check) => check.given.headers)),
  });
  const response = await openApp(operations).fetch(request('/v1/sms', given));
  const body = (await response.json()) as { error?: { code: string; message: string } };
  const replayed = response.headers.get('idempotency-replayed') === 'true';
  return {
    status: response.status,
    code: replayed ? 'replayed' : body.error?.code,
    message: body.error?.message,
  };
}

describe('the order of checks', () => {
  const names = Object.keys(checks);

  it.each(names)('%s alone gets its own answer', async (name) => {
    const { status, code } = checks[name] as (typeof checks)[string];
    expect(await answerTo(name)).toMatchObject({ status, code });
  });

  const pairs = names.flatMap((first, at) => names.slice(at + 1).map((second) => [first, second] as const));
  // One body cannot break two of these at once: the later one would undo the earlier.
  const bodies = new Set(['size', 'syntax', 'fields']);
  it.each(pairs.filter((pair) => !pair.every((name) => bodies.has(name))))(
    '%s comes before %s',
    async (...pair) => {
      expect(await answerTo(...pair)).toEqual(await answerTo(pair[0]));
    },
  );
});

describe('the scope of a key', () => {
  const { routes } = createApp(fakeOperations().operations);
  const keyed = routes.filter((route) => route.includes(' /v1/') && route !== 'GET /v1/openapi.json');

  it.each(keyed)('%s is 403 for a key of the other scopes only, and does nothing', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = async (...scope: KeyScope[]) => {
      const { operations, calls } = fakeOperations({ scope });
      const given = method === 'POST' ? { body: good } : { method };
      const response = await openApp(operations).fetch(request(path.replace(':id', 'x'), given));
      const { error } = (await response.json()) as { error?: { code: string } };
      return { status: response.status, code: error?.code, calls };
    };
    const own: KeyScope[] =
      path === '/v1/outbox'
        ? ['inbox']
        : path === '/v1/inbox'
          ? ['read', 'inbox']
          : [method === 'POST' ? 'send' : 'read'];
    const others = everyScope.filter((each) => !own.includes(each));
    expect(await answer(...others)).toEqual({ status: 403, code: 'forbidden', calls: [] });
    for (const scope of own) expect((await answer(scope)).status).not.toBe(403);
  });

  it('covers every route', () => {
    expect(keyed.length).toBeGreaterThanOrEqual(14);
    expect(new Set(keyed.map((route) => route.split(' ')[0]))).toEqual(new Set(['POST', 'GET']));
  });
});
