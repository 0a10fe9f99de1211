import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import pkg from '../../../package.json' with { type: 'json' };
import { type FetchLike, type FetchRequest, UrtuuError } from '../../../src/client/index.js';
import { apiKey, clientWith, FakeSystem, failureOf, resultOf } from '../../support/client.js';

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
process.on('unhandledRejection', note);
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const none = { maxRetries: 0 };
const never = new Promise<never>(() => {});

describe('option fetch', () => {
  it('is called with a string and an init, and no this', async () => {
    const calls: unknown[] = [];
    const fetch = async function (this: unknown, ...args: unknown[]) {
      calls.push(this, ...args);
      return Response.json(resultOf('/sms'));
    };
    await clientWith({ fetch, baseUrl: 'https://api.example.mn/v1//' }).sms.send({
      to: '99112233',
      text: 'x',
    });
    expect(calls).toEqual([
      undefined,
      'https://api.example.mn/v1/sms',
      {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${apiKey}`,
          Accept: 'application/json',
          'Accept-Encoding': 'identity',
          'Content-Type': 'application/json',
          'Idempotency-Key': 'key-1',
          'User-Agent': `urtuu/${pkg.version}`,
        },
        body: '{"to":"99112233","text":"x"}',
        redirect: 'manual',
        signal: expect.any(AbortSignal),
      },
    ]);
    expect((calls[2] as FetchRequest).signal.aborted).toBe(false);
  });

  it('takes a fetch whose answers are Node.js streams', async () => {
    const fetch: FetchLike = async () => ({
      status: 200,
      headers: new Headers(),
      body: Readable.from([Buffer.from('{"bal'), Buffer.from('ance":1}')]),
    });
    expect(await clientWith({ fetch }).balance.get()).toEqual({ balance: 1 });
  });

  it.each<[string, FetchLike]>([
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no'))],
    [
      'rejects with an error that is its own cause',
      async () => {
        const error = new Error('no');
        error.cause = error;
        throw error;
      },
    ],
    ['rejects with no error', async () => Promise.reject('no')],
    ['rejects with undefined', async () => Promise.reject(undefined)],
    ['gives nothing', async () => undefined as never],
    ['gives no promise', () => 7 as never],
    ['gives a body that was read', async () => spent(Response.json({}))],
    [
      'gives a body that breaks',
      async () => new Response(new ReadableStream({ start: (c) => c.error('no') })),
    ],
    ['gives a body of text', async () => ({ ...light, body: Readable.from(['{', '}']) as never })],
    ['gives a body that throws', async () => ({ ...light, body: { getReader: () => null } as never })],
    [
      'gives one answer with throwing parts',
      async () => ({
        ...light,
        get body(): never {
          throw new Error('no');
        },
      }),
    ],
  ])('that %s: connection_error', async (_, fetch) => {
    expect(await failureOf(clientWith({ fetch, ...none }).balance.get())).toMatchObject({
      code: 'connection_error',
      status: null,
    });
  });

  it('that heeds no signal still times out, and a late answer is thrown away', async () => {
    const system = new FakeSystem();
    let answer: (response: Response) => void = () => {};
    let signal: AbortSignal | undefined;
    const call = clientWith(
      {
        ...none,
        fetch: (_, init) => {
          signal = init.signal;
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
      },
      system,
    ).balance.get();
    system.expire();
    expect((await failureOf(call)).code).toBe('timeout');
    expect(signal?.aborted).toBe(true);
    await new Promise<unknown>((cancelled) =>
      answer(new Response(new ReadableStream({ cancel: cancelled }))),
    );
  });

  it.each<[string, (cancelled: () => void) => unknown]>([
    ['web stream', (cancel) => new ReadableStream({ cancel, pull: () => never })],
    [
      'broken reader',
      (cancel) => ({
        getReader: () => ({
          read: () => never,
          cancel: () => {
            cancel();
            throw new Error('no');
          },
        }),
      }),
    ],
    [
      'iterator',
      (cancel) => ({ [Symbol.asyncIterator]: () => ({ next: () => never, return: async () => cancel() }) }),
    ],
  ])('whose body (%s) heeds no signal still times out, and the body is cancelled', async (_, bodyOf) => {
    const system = new FakeSystem();
    let cancel = () => {};
    const cancelled = new Promise<void>((resolve) => {
      cancel = resolve;
    });
    const fetch: FetchLike = async () => {
      setImmediate(() => system.expire());
      return { ...light, body: bodyOf(cancel) as never };
    };
    expect((await failureOf(clientWith({ fetch, ...none }, system).balance.get())).code).toBe('timeout');
    await cancelled;
  });

  it('that answers 204 with a body: unexpected_response, and the body is cancelled', async () => {
    let cancelled = false;
    const chunks = [Buffer.from('{}')];
    const reader = {
      read: async () => ({ done: chunks.length === 0, value: chunks.pop() }),
      cancel: async () => {
        cancelled = true;
      },
    };
    const fetch: FetchLike = async () => ({ ...light, status: 204, body: { getReader: () => reader } });
    expect(await failureOf(clientWith({ fetch }).balance.get())).toMatchObject({
      code: 'unexpected_response',
      status: 204,
    });
    expect(cancelled).toBe(true);
  });

  it('gets another init for each attempt', async () => {
    const seen: FetchRequest[] = [];
    const fetch: FetchLike = async (_, init) => {
      seen.push(init);
      init.headers['Idempotency-Key'] = 'spoilt';
      init.body = 'spoilt';
      throw new Error('no');
    };
    await failureOf(
      clientWith({ fetch: (url, init) => fetch(url, init) }).sms.send({ to: '99112233', text: 'x' }),
    );
    expect(new Set(seen).size).toBe(3);
    expect(new Set(seen.map(({ signal }) => signal)).size).toBe(3);
  });

  it('is the global fetch when there is none', async () => {
    const error = await failureOf(clientWith({ baseUrl: 'http://127.0.0.1:1', ...none }).balance.get());
    expect(error.code).toBe('connection_error');
  });
});

describe('any answer at all', () => {
  const secretive: fc.Arbitrary<string> = fc.constantFrom(
    apiKey,
    `x${apiKey}y`,
    JSON.stringify(apiKey),
    apiKey.replace('u', '\\u0075'),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    secretive,
    fc.array(fc.oneof(fc.string(), secretive)),
    fc.integer(),
    fc.constantFrom('', null, -1),
  );
  const code = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        'invalid_request',
        'insufficient_credits',
        'invalid_code',
        'provider_failed',
        'rate_limited',
      ),
    },
    value,
  );
  const fields = fc.record(
    {
      code,
      message: value,
      invalid: value,
      balance: value,
      required: value,
      attempts_remaining: value,
      id: value,
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fields.map((error) => JSON.stringify({ error })),
    fields.map((error) => JSON.stringify(error)),
    fc.tuple(fields, fields).map(([error, rest]) => JSON.stringify({ ...rest, error })),
    fc.json(),
    fc.string(),
    fc.uint8Array(),
    secretive,
  );
  const status = fc.oneof(
    fc.integer({ min: 200, max: 599 }),
    fc.constantFrom(0, 99, 102, 600, 999, -1, Number.NaN),
  );

  it('is a result or an UrtuuError of the right types that does not show the key', async () => {
    const { inspect } = await import('node:util');
    await fc.assert(
      fc.asyncProperty(status, body, fc.option(fc.string()), async (status, body, retryAfter) => {
        const system = new FakeSystem();
        const client = clientWith(
          {
            fetch: async () => ({
              status,
              headers: { get: () => retryAfter },
              body: new Response(body).body,
            }),
          },
          system,
        );
        const ended = await client.sms.send({ to: '99112233', text: 'x' }).then(
          (result) => ({ result, error: null }),
          (error: unknown) => ({ result: null, error }),
        );
        const { error, result } = ended;
        if (error === null) {
          expect(status >= 200 && status < 300 && typeof result === 'object').toBe(true);
          return;
        }
        if (!(error instanceof UrtuuError)) throw error;
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(apiKey);
        expect(JSON.stringify(error)).not.toContain(apiKey);
        expect(error.status).toBe(status);
        expect(typeof error.code === 'string' && error.code !== '').toBe(true);
        expect(typeof error.message).toBe('string');
        expect([undefined, 'number']).toContain(typeOf(error.balance));
        expect([undefined, 'number']).toContain(typeOf(error.required));
        expect([undefined, 'number']).toContain(typeOf(error.attempts_remaining));
        expect([undefined, 'string']).toContain(typeOf(error.id));
        const invalid: unknown = error.invalid;
        if (invalid !== undefined) {
          expect(Array.isArray(invalid) && invalid.every((entry) => typeof entry === 'string')).toBe(true);
        }
        expect(system.slept.every((wait) => wait >= 100 && wait <= 10_000)).toBe(true);
        expect(system.slept.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 2_000 },
    );
  });
});

const light = { status: 200, headers: new Headers() };

function spent(response: Response): Response {
  void response.text();
  return response;
}

function typeOf(value: unknown): string | undefined {
  return value === undefined ? undefined : typeof value;
}
