import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type FetchLike, Urtuu, UrtuuError } from '../../src/client/index.js';
import { redactorOf } from '../../src/client/secret.js';

const keys = [`urtuu_${'k'.repeat(40)}`, 'p@ss/w0rd+long==', 'quo"te\\d-secret'];
const foreign = (code: string, key: string): unknown => runInNewContext(code, { key });
const escaped = (text: string) =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe.each(keys)('a service that echoes the key %s', (key) => {
  const clientOf = (text: string, headers = {}, status = 200) =>
    new Urtuu(key, {
      fetch: async () => new Response(text, { status, headers: { 'X-Request-Id': `r ${key}`, ...headers } }),
      maxRetries: 0,
    });
  const shown = (value: unknown) =>
    `${inspect(value, { depth: 9, showHidden: true })} ${JSON.stringify(value)}`;
  const json = JSON.stringify(key);

  it('has it taken out of a result, wherever it stands', async () => {
    const spelt = `"${escaped(key)}"`;
    const text = `{"id": ${json}, "status": "sent", "to": ${spelt}, "more": [{${json}: ${spelt}, "n": 1}]}`;
    const result = await clientOf(text).messages.get('m');
    expect(result).toEqual({
      id: '[API key]',
      status: 'sent',
      to: '[API key]',
      more: [{ '[API key]': '[API key]', n: 1 }],
    });
  });

  it('has it taken out of an error, its request id included', async () => {
    const body = { error: { code: `c ${key}`, message: `m ${encodeURIComponent(key)}`, invalid: [key] } };
    for (const client of [
      clientOf(JSON.stringify(body), {}, 400),
      clientOf(JSON.stringify({ error: { ...body.error, code: 'invalid_request' } }), {}, 400),
      clientOf(JSON.stringify({ error: { code: 'provider_failed', message: 'm', id: key } }), {}, 502),
      clientOf('{}'),
    ]) {
      const error = await client.sms.send({ to: '99112233', text: 'x' }).catch((thrown: unknown) => thrown);
      if (!(error instanceof UrtuuError)) throw error;
      expect(error.requestId).toBe('r [API key]');
      expect(shown(error)).not.toContain(key);
      expect(shown(error)).not.toContain(json.slice(1, -1));
      expect(shown(error)).not.toContain(encodeURIComponent(key));
    }
  });

  it.each<[string, (init: object) => unknown]>([
    ['in its message', () => Object.assign(new TypeError(`bad header Bearer ${key}`), { code: 'ERR_X' })],
    ['in its request', (init) => Object.assign(new Error('no'), { config: init })],
    ['in its cause', (init) => new Error('no', { cause: Object.assign(new Error('why'), { init }) })],
    ['in its headers', () => Object.assign(new Error('no'), { sent: new Headers({ a: `Bearer ${key}` }) })],
    [
      'in headers of another realm',
      () => foreign(`Object.assign(new Error('no'), { sent: new Map([['a', key]]) })`, key),
    ],
    ['as a text', () => `Bearer ${key}`],
    [
      'in fields that throw',
      () =>
        new Proxy(
          { key },
          {
            ownKeys: () => {
              throw new Error('no');
            },
          },
        ),
    ],
  ])('has it taken out of the cause when the fetch fails with it %s', async (_, thrown) => {
    const fetch: FetchLike = async (_, init) => Promise.reject(thrown(init));
    const error = await new Urtuu(key, { fetch, maxRetries: 0 }).balance.get().catch((each: unknown) => each);
    if (!(error instanceof UrtuuError)) throw error;
    expect(error.code).toBe('connection_error');
    expect(error.cause).toBeInstanceOf(Error);
    expect(shown(error)).not.toContain(key);
  });
});

describe('the redactor', () => {
  it('leaves an error without the key as it is', () => {
    const error = Object.assign(new Error('no'), { code: 'ECONNRESET', itself: {} });
    error.itself = error;
    expect(redactorOf(keys[0] as string).cause(error)).toBe(error);
  });

  it('reads what is nested deeper than a stack is', () => {
    const depth = 200_000;
    const text = `${'['.repeat(depth)}"\\n"${']'.repeat(depth)}`;
    expect(Array.isArray(redactorOf(keys[0] as string).json(text))).toBe(true);
  });

  it('makes no prototype out of a name', () => {
    const key = keys[0] as string;
    const value = redactorOf(key).json(`{"__proto__": {"a": "${key}"}, "b": "${key}"}`) as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'b']);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":"[API key]"},"b":"[API key]"}');
  });

  it('does not tear words apart for a key that is no secret', () => {
    expect(redactorOf('k').text('okay')).toBe('okay');
  });
});
