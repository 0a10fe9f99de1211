import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseBrowser } from '../../src/client/browser.js';
import { Urtuu, type UrtuuOptions } from '../../src/client/index.js';
import { readOptions } from '../../src/client/options.js';
import { apiKey } from '../support/client.js';

/** A client whose fetch counts and answers. */
function counting(key: string | undefined = apiKey, options: object = {}) {
  const sent: { url: string; key: string | undefined }[] = [];
  const fetch: UrtuuOptions['fetch'] = async (url, { headers }) => {
    sent.push({ url, key: headers.Authorization });
    return Response.json({ balance: 1 });
  };
  return { client: new Urtuu(key, { fetch, ...options }), sent };
}

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

describe('the API key', () => {
  const before = process.env.URTUU_API_KEY;
  beforeEach(() => {
    delete process.env.URTUU_API_KEY;
  });
  afterEach(() => {
    if (before === undefined) delete process.env.URTUU_API_KEY;
    else process.env.URTUU_API_KEY = before;
  });

  it('is the first argument, or URTUU_API_KEY', async () => {
    process.env.URTUU_API_KEY = 'from-the-environment';
    const { client, sent } = counting('from-the-caller');
    await client.balance.get();
    expect(sent[0]?.key).toBe('Bearer from-the-caller');
    const other: string[] = [];
    await new Urtuu(undefined, {
      fetch: async (_, { headers }) => {
        other.push(headers.Authorization ?? '');
        return Response.json({ balance: 1 });
      },
    }).balance.get();
    expect(other).toEqual(['Bearer from-the-environment']);
  });

  it.each([undefined, ''])('is missing when URTUU_API_KEY is %j', (value) => {
    if (value !== undefined) process.env.URTUU_API_KEY = value;
    expect(() => new Urtuu()).toThrow(
      new TypeError('No API key: pass it as the first argument or set URTUU_API_KEY'),
    );
  });

  it.each([
    '',
    ' ',
    'secret key',
    'secret\n',
    ' secret',
    'secret\r\nX-Evil: 1',
    'secret\0',
    'нууц',
    'secrét',
    'secret\u2028',
  ])('%j is refused, and not repeated', (key) => {
    const error = thrownBy(() => new Urtuu(key));
    expect(error).toBeInstanceOf(TypeError);
    expect(inspect(error, { showHidden: true }).replace(/URTUU_API_KEY/g, '')).not.toMatch(/secr|нууц/);
  });

  it.each([null, 7, {}, [], Symbol('secret'), { timeout: 1 }])('%s is no key', (key) => {
    expect(() => new Urtuu(key as never)).toThrow(new TypeError('The API key must be a string'));
  });

  it('is refused from the environment too', () => {
    process.env.URTUU_API_KEY = 'secret\n';
    expect(thrownBy(() => new Urtuu())).toBeInstanceOf(TypeError);
  });

  it('does not show', () => {
    const { client } = counting();
    const shown = [
      inspect(client, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(client),
      String(client),
      ...Object.values(client).flatMap((part) => [inspect(part, { showHidden: true }), JSON.stringify(part)]),
    ];
    for (const text of shown) expect(text).not.toContain(apiKey);
  });
});

describe('options (Client options)', () => {
  it('have the defaults of the interface', () => {
    expect(readOptions({})).toMatchObject({
      timeout: 30_000,
      maxRetries: 2,
      baseUrl: 'http://127.0.0.1:7788/v1',
    });
    expect(
      readOptions({ timeout: undefined, maxRetries: undefined, baseUrl: undefined, fetch: undefined }),
    ).toMatchObject({ timeout: 30_000 });
  });

  it.each([
    [null, TypeError],
    ['secret', TypeError],
    [7, TypeError],
    [{ timeOut: 1 }, TypeError],
    [{ timeout: 0 }, RangeError],
    [{ timeout: -1 }, RangeError],
    [{ timeout: Number.POSITIVE_INFINITY }, RangeError],
    [{ timeout: Number.NaN }, RangeError],
    [{ timeout: '1' }, TypeError],
    [{ timeout: null }, TypeError],
    [{ maxRetries: -1 }, RangeError],
    [{ maxRetries: 1.5 }, RangeError],
    [{ maxRetries: Number.POSITIVE_INFINITY }, RangeError],
    [{ maxRetries: '2' }, TypeError],
    [{ baseUrl: '' }, RangeError],
    [{ baseUrl: 'api.example.mn/v1' }, RangeError],
    [{ baseUrl: '/v1' }, RangeError],
    [{ baseUrl: 'ftp://api.example.mn/v1' }, RangeError],
    [{ baseUrl: 'http://user:secret@api.example.mn/v1' }, RangeError],
    [{ baseUrl: 'http://api.example.mn/v1?secret' }, RangeError],
    [{ baseUrl: 'http://api.example.mn/v1#secret' }, RangeError],
    [{ baseUrl: 7 }, TypeError],
    [{ baseUrl: 'http://secret.example.mn/v1' }, RangeError],
    [{ baseUrl: 'http://127.0.0.1.secret.mn/v1', allowHttp: false }, RangeError],
    [{ baseUrl: 'http://0.0.0.0:7788/v1' }, RangeError],
    [{ allowHttp: 'true' }, TypeError],
    [{ allowHttp: null }, TypeError],
    [{ fetch: 'secret' }, TypeError],
    [{ fetch: null }, TypeError],
  ])('%j throws, and is not repeated', (options, type) => {
    const error = thrownBy(() => new Urtuu(apiKey, options as never));
    expect(error).toBeInstanceOf(type);
    expect(String(error)).not.toMatch(/secret/);
    expect(String(error)).not.toContain(apiKey);
  });

  it.each([
    [{ timeOut: 1 }, 'Unknown option "timeOut"; valid options: timeout, maxRetries, baseUrl, fetch, '],
    [{ timeout: 1, retries: 2 }, 'Unknown option "retries"; valid options: '],
    [{ [apiKey]: true }, 'Unknown option; valid options: '],
    [{ 'secret key': true }, 'Unknown option; valid options: '],
  ])('an unknown option of %j is named, unless it may be a secret', (options, message) => {
    expect(() => new Urtuu(apiKey, options as never)).toThrow(message);
  });

  it.each([
    ['https://a.mn', 'https://a.mn/balance'],
    ['https://a.mn/', 'https://a.mn/balance'],
    ['https://a.mn:8443/v1', 'https://a.mn:8443/v1/balance'],
    ['https://a.mn/api/v1///', 'https://a.mn/api/v1/balance'],
    ['HTTP://[::1]:7788/v1/', 'http://[::1]:7788/v1/balance'],
  ])('baseUrl %s asks %s', async (baseUrl, url) => {
    const { client, sent } = counting(apiKey, { baseUrl });
    await client.balance.get();
    expect(sent.map((request) => request.url)).toEqual([url]);
  });

  it.each(['http://localhost:7788/v1', 'http://127.9.9.9/v1', 'http://[::1]/v1'])(
    'baseUrl %s is this machine: plain http is allowed',
    async (baseUrl) => {
      const { client, sent } = counting(apiKey, { baseUrl });
      await client.balance.get();
      expect(sent).toHaveLength(1);
    },
  );

  it('allowHttp lets requests go to another machine over plain http', async () => {
    const { client, sent } = counting(apiKey, { baseUrl: 'http://sms.example.mn/v1', allowHttp: true });
    await client.balance.get();
    expect(sent.map(({ url }) => url)).toEqual(['http://sms.example.mn/v1/balance']);
  });

  it('takes a timeout longer than a timer can be', async () => {
    const fetch = () =>
      new Promise<Response>((answer) => setTimeout(() => answer(Response.json({ balance: 1 })), 20));
    const client = new Urtuu(apiKey, { fetch, timeout: Number.MAX_SAFE_INTEGER, maxRetries: 0 });
    expect(await client.balance.get()).toEqual({ balance: 1 });
  });
});

describe('arguments', () => {
  const sms = { to: '99112233', text: 'x' };

  it.each([
    ['', RangeError],
    ['.', RangeError],
    ['..', RangeError],
    ['secret\ud800', RangeError],
    [undefined, TypeError],
    [null, TypeError],
    [7, TypeError],
    [['secret'], TypeError],
  ])('id %j is refused, nothing is sent', async (id, type) => {
    const { client, sent } = counting();
    const calls = [
      () => client.messages.get(id as never),
      () => client.batches.get(id as never),
      () => client.batches.messages(id as never),
      () => client.batches.wait(id as never),
      () => client.verify.get(id as never),
      () => client.verify.check(id as never, { code: '1' }),
    ];
    for (const call of calls) {
      const error: unknown = await call().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(type);
      expect(String(error)).not.toMatch(/secret/);
    }
    expect(sent).toEqual([]);
  });

  it.each([
    [{ idempotencyKey: '' }, RangeError],
    [{ idempotencyKey: 'a'.repeat(256) }, RangeError],
    [{ idempotencyKey: ' a' }, RangeError],
    [{ idempotencyKey: 'a ' }, RangeError],
    [{ idempotencyKey: 'a\n' }, RangeError],
    [{ idempotencyKey: 'түлхүүр' }, RangeError],
    [{ idempotencyKey: 7 }, TypeError],
    [{ idempotencyKey: null }, TypeError],
    [{ idempotency_key: 'a' }, TypeError],
    ['a', TypeError],
    [null, TypeError],
  ])('send option %j is refused, nothing is sent', async (options, type) => {
    const { client, sent } = counting();
    const email = { to: 'a@b.mn', subject: 'x', text: 'x' };
    const calls = [
      () => client.sms.send(sms, options as never),
      () => client.sms.sendBulk({ ...sms, to: [] }, options as never),
      () => client.email.send(email, options as never),
      () => client.email.sendBulk({ ...email, to: [] }, options as never),
    ];
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(type);
    expect(sent).toEqual([]);
  });

  it.each([undefined, null, 'x', 7, () => {}])(
    'parameters %s are refused, nothing is sent',
    async (params) => {
      const { client, sent } = counting();
      await expect(client.sms.send(params as never)).rejects.toBeInstanceOf(TypeError);
      await expect(client.verify.create(params as never)).rejects.toBeInstanceOf(TypeError);
      expect(sent).toEqual([]);
    },
  );

  it('a page with unknown or wrong options is refused', async () => {
    const { client, sent } = counting();
    await expect(client.batches.messages('b', { size: 1 } as never)).rejects.toBeInstanceOf(TypeError);
    await expect(client.batches.messages('b', null as never)).rejects.toBeInstanceOf(TypeError);
    expect(sent).toEqual([]);
  });
});

describe('refuseBrowser', () => {
  const node = { versions: { node: '20.0.0' } };
  it.each([
    ['a browser', { window: { document: {} } }, true],
    [
      'a browser with a process of its bundler',
      { window: { document: {} }, process: { versions: {} } },
      true,
    ],
    ['React Native', { navigator: { product: 'ReactNative' } }, true],
    ['jsdom in Node.js', { window: { document: {} }, process: node }, false],
    ['Node.js', { navigator: { product: undefined }, process: node }, false],
    ['a server without either', {}, false],
    ['a window without a document', { window: {} }, false],
  ])('%s: %s', (_, globals, refused) => {
    if (refused) expect(() => refuseBrowser(globals)).toThrow('servers only');
    else expect(() => refuseBrowser(globals)).not.toThrow();
  });
});
