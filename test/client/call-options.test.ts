import { EventEmitter, getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { CallOptions, FetchLike, Urtuu } from '../../src/client/index.js';
import { realSystem } from '../../src/client/system.js';
import { clientWith, FakeSystem, failureOf, resultOf } from '../support/client.js';
import { reads, sends, sms, verifying } from '../support/client-methods.js';
import { json, Loopback } from '../support/loopback.js';

type Method = (client: Urtuu, options?: CallOptions) => Promise<unknown>;
const all: Record<string, Method> = {
  ...{ ...sends, ...verifying, ...reads },
  'batches.wait': (c, o) => c.batches.wait('b', o),
};
const methods = Object.entries(all);

const never = new Promise<never>(() => {});
/** Proves the success of every method. */
const answer: FetchLike = async (url) => {
  const { pathname } = new URL(url);
  const result = resultOf(pathname);
  return Response.json(pathname.includes('/batches/') ? { ...result, status: 'completed' } : result);
};
/** A fetch, and the number of its requests. */
function counted(fetch: FetchLike) {
  const seen = { requests: 0 };
  const counting: FetchLike = (url, init) => {
    seen.requests += 1;
    return fetch(url, init);
  };
  return { seen, fetch: counting };
}

describe.each(methods)('the last argument of %s', (name, call) => {
  it.each<[object, new () => Error]>([
    [{ timeout: 0 }, RangeError],
    [{ timeout: '1' }, TypeError],
    [{ timeout: null }, TypeError],
    [{ maxRetries: -1 }, RangeError],
    [{ maxRetries: 0.5 }, RangeError],
    [{ signal: null }, TypeError],
    [{ signal: {} }, TypeError],
    [{ signal: new AbortController() }, TypeError],
    [{ signal: { aborted: false, addEventListener() {} } }, TypeError],
    [{ timeOut: 1 }, TypeError],
    [new AbortController().signal, TypeError],
    [[], TypeError],
  ])('refuses %j, and nothing is sent', async (options, type) => {
    const { seen, fetch } = counted(answer);
    await expect(call(clientWith({ fetch }), options as never)).rejects.toBeInstanceOf(type);
    expect(seen.requests).toBe(0);
  });

  it('may hold undefined', async () => {
    const options = { signal: undefined, timeout: undefined, maxRetries: undefined };
    const { seen, fetch } = counted(answer);
    expect(await call(clientWith({ fetch }), options)).toMatchObject({ id: expect.any(String) });
    expect(seen.requests).toBe(1);
  });

  it('aborts before the first request: nothing is sent', async () => {
    const { seen, fetch } = counted(answer);
    const reason = new Error('no longer wanted');
    const error = await failureOf(call(clientWith({ fetch }), { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({
      code: 'connection_error',
      message: 'the call was aborted',
      status: null,
      requestSent: false,
      inDoubt: false,
      attempts: 0,
    });
    expect(error.cause).toBe(reason);
    expect(seen.requests).toBe(0);
  });

  it('heeds the signal of a polyfill, which calls its listeners on something else', async () => {
    const { seen, fetch } = counted(() => never);
    const emitter = new EventEmitter();
    const signal = {
      aborted: false,
      addEventListener: (type: string, listener: () => void) => emitter.on(type, listener),
      removeEventListener: (type: string, listener: () => void) => emitter.off(type, listener),
    };
    const options = { signal: signal as unknown as AbortSignal };
    const ended = failureOf(call(clientWith({ fetch }, new FakeSystem()), options));
    while (seen.requests === 0) await new Promise(setImmediate);
    signal.aborted = true;
    emitter.emit('abort', { type: 'abort', target: signal });
    expect(await ended).toMatchObject({ code: 'connection_error', attempts: 1 });
    expect(emitter.listenerCount('abort')).toBe(0);
  });

  it('aborts an attempt at once, though the fetch heeds no signal, and it is not retried', async () => {
    const { seen, fetch } = counted(() => never);
    const controller = new AbortController();
    const system = new FakeSystem();
    const ended = failureOf(call(clientWith({ fetch }, system), { signal: controller.signal }));
    while (seen.requests === 0) await new Promise(setImmediate);
    controller.abort('changed my mind');
    const error = await ended;
    expect(error).toMatchObject({
      code: 'connection_error',
      cause: 'changed my mind',
      requestSent: true,
      inDoubt: name in sends || name === 'verify.create' || name === 'verify.check',
      idempotencyKey: name in sends ? 'key-1' : null,
      attempts: 1,
    });
    expect(seen.requests).toBe(1);
    expect(system.slept).toEqual([]);
    expect(system.running).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('signal', () => {
  it('of calls that end well keeps no listener, and 50 at once are no leak', async () => {
    const { signal } = new AbortController();
    const client = clientWith({ fetch: answer });
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const calls = Array.from({ length: 50 }, () => client.balance.get({ signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all(calls);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('aborts all calls that share it, and only those that have not ended', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = await clientWith({ fetch: answer }).balance.get({ signal });
    const hanging = clientWith({ fetch: () => never });
    const calls = Array.from({ length: 3 }, () => failureOf(hanging.balance.get({ signal })));
    controller.abort('all');
    expect((await Promise.all(calls)).map(({ cause }) => cause)).toEqual(['all', 'all', 'all']);
    expect(ended).toHaveProperty('balance');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('aborts while the body arrives, and frees the connection', async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> = never;
    await using server = await Loopback.listen((_, response) => {
      closed = new Promise((resolve) => response.socket?.on('close', resolve));
      response.writeHead(200, { 'content-length': '50' }).write('{"a":', () => controller.abort());
    });
    const client = clientWith({ baseUrl: server.origin }, realSystem);
    const error = await failureOf(client.sms.send(sms, { signal: controller.signal }));
    expect(error).toMatchObject({ code: 'connection_error', requestSent: true, inDoubt: true });
    expect(error.cause).toBe(controller.signal.reason);
    await closed;
  });

  it('ends the wait before a retry, and keeps what the attempts before it tell', async () => {
    const controller = new AbortController();
    const { seen, fetch } = counted(async () => {
      setImmediate(() => controller.abort());
      return Response.json(
        { error: { code: 'unavailable', message: 'no' } },
        { status: 503, headers: { 'X-Request-Id': 'r-1' } },
      );
    });
    const client = clientWith({ fetch }, realSystem);
    const error = await failureOf(client.sms.send(sms, { signal: controller.signal, idempotencyKey: 'k' }));
    expect(error).toMatchObject({
      code: 'connection_error',
      status: null,
      requestSent: true,
      inDoubt: true,
      idempotencyKey: 'k',
      requestId: 'r-1',
      attempts: 1,
    });
    expect(seen.requests).toBe(1);
  });

  it('that aborts before a send with a new key leaves the key of the last attempt', async () => {
    const controller = new AbortController();
    const fetch: FetchLike = async () => {
      setImmediate(() => controller.abort());
      return Response.json({ error: { code: 'provider_failed', id: 'm1' } }, { status: 502 });
    };
    const system = new FakeSystem();
    system.sleep = (milliseconds, signal) => realSystem.sleep(milliseconds, signal);
    const error = await failureOf(clientWith({ fetch }, system).sms.send(sms, { signal: controller.signal }));
    expect(error).toMatchObject({ code: 'connection_error', inDoubt: false, idempotencyKey: 'key-1' });
  });

  it('that aborts after the end of a call changes nothing', async () => {
    const after = new AbortController();
    const call = clientWith({
      fetch: async () => Response.json({ error: { code: 'not_found' } }, { status: 404 }),
    }).messages.get('m', { signal: after.signal });
    const error = await failureOf(call);
    after.abort();
    expect(error.code).toBe('not_found');
  });

  it('can be shared by calls of which one left and one did not', async () => {
    const controller = new AbortController();
    const reason = Object.assign(new Error('shutting down'), { requestSent: false });
    // As the fetch of the command line does: it marks the reason of the signal that it is given.
    const marking =
      (requestSent: boolean): FetchLike =>
      (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(Object.assign(signal.reason, { requestSent })));
        });
    const calls = [false, true].map((left) =>
      failureOf(clientWith({ fetch: marking(left) }).sms.send(sms, { signal: controller.signal })),
    );
    controller.abort(reason);
    const [unsent, sent] = await Promise.all(calls);
    expect(unsent).toMatchObject({ requestSent: false, inDoubt: false });
    expect(sent).toMatchObject({ requestSent: true, inDoubt: true });
    expect(unsent?.cause).toBe(reason);
  });

  it('whose reason claims that nothing left is not believed', async () => {
    const controller = new AbortController();
    const ended = failureOf(clientWith({ fetch: () => never }).sms.send(sms, { signal: controller.signal }));
    controller.abort(
      Object.assign(new Error('no'), { requestSent: false, code: 'ECONNREFUSED', syscall: 'connect' }),
    );
    expect(await ended).toMatchObject({ requestSent: true, inDoubt: true });
  });
});

describe('timeout and maxRetries of a call', () => {
  it('take the place of those of the client', async () => {
    const timers: number[] = [];
    const system = new (class extends FakeSystem {
      override after(milliseconds: number, run: () => void) {
        timers.push(milliseconds);
        return super.after(milliseconds, run);
      }
    })();
    const { seen, fetch } = counted(async () =>
      Response.json({ error: { code: 'unavailable' } }, { status: 503 }),
    );
    const client = clientWith({ fetch, timeout: 7_000, maxRetries: 1 }, system);
    await failureOf(client.balance.get({ timeout: 50, maxRetries: 3 }));
    expect(seen.requests).toBe(4);
    expect(timers).toEqual([50, 50, 50, 50]);
    await failureOf(client.balance.get({ maxRetries: 0 }));
    expect(seen.requests).toBe(5);
    await failureOf(client.balance.get());
    expect(timers.slice(4)).toEqual([7_000, 7_000, 7_000]);
  });

  it('a timeout names its own milliseconds', async () => {
    await using server = await Loopback.listen(() => {});
    const client = clientWith({ baseUrl: server.origin }, realSystem);
    const error = await failureOf(client.balance.get({ timeout: 40, maxRetries: 0 }));
    expect(error).toMatchObject({ code: 'timeout', message: 'no answer in time (40 ms)' });
  });

  it('hold for every page of a list', async () => {
    await using server = await Loopback.listen(({ path }, response) =>
      path.includes('after=')
        ? json(response, 503, { error: { code: 'unavailable' } })
        : json(response, 200, { data: [{ id: 'm1' }], next: 'm1' }),
    );
    const seen: string[] = [];
    const list = clientWith({ baseUrl: server.origin }).messages.list({}, { maxRetries: 0 });
    const error = await failureOf(
      (async () => {
        for await (const { id } of list) seen.push(id);
      })(),
    );
    expect(seen).toEqual(['m1']);
    expect(error).toMatchObject({ code: 'unavailable', attempts: 1 });
    expect(server.requests).toHaveLength(2);
  });
});
