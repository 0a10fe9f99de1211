import { describe, expect, it } from 'vitest';
import type { OutputStream } from '../../src/cli/terminal/streams.js';
import type { Service } from '../../src/service/index.js';
import { emailResult, smsResult } from '../support/resources.js';
import { answers, fakeService, type Reply, refusal, run } from '../support/run.js';

const limited = { ...refusal(429, 'rate_limited'), headers: { 'Retry-After': '9' } };

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Signals that a test sends. */
function signals() {
  const listeners = new Set<(signal: Signal) => void>();
  return {
    send: (signal: Signal) => {
      for (const listener of listeners) listener(signal);
    },
    onSignal(listener: (signal: Signal) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** As much of a service as `serve` uses; both kinds of `close` wait for what the test decides. */
function serving(
  listening: () => void,
  closing: Promise<void> = Promise.resolve(),
  closeAll: () => Promise<void> = async () => {},
) {
  const closed: string[] = [];
  const service = {
    administration: { listKeys: async () => [{}], held: async () => null, isReal: false },
    channels: { sms: 'simulated', email: 'simulated' },
    async listen() {
      setImmediate(listening);
      return {
        url: 'http://127.0.0.1:1/v1',
        close: async () => {
          closed.push('listening');
          await closing;
        },
      };
    },
    drain: () => void closed.push('drained'),
    lost: new Promise(() => {}),
    close: async () => {
      closed.push('service');
      await closeAll();
    },
  } as unknown as Service;
  return { closed, openService: async () => service };
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('ends waiting at once and without an error: %s', async (signal) => {
    const { send, onSignal } = signals();
    const { fetch } = fakeService((_, index) => {
      if (index === 3) setImmediate(() => send(signal));
      return { body: smsResult({ status: 'queued' }) };
    });
    const { code, stderr } = await run('messages get m --wait', { fetch, onSignal });
    expect(code).toBe(signal);
    expect(stderr).toBe('');
  });

  it.each<[string, (Reply | Error)[], boolean]>([
    ['no answer, then a refusal to wait for', [new Error('reset'), limited], true],
    ['a refusal to wait for', [limited], false],
  ])('while a send waits after %s: it is named where it is in doubt', async (_, steps, inDoubt) => {
    const { send, onSignal } = signals();
    const service = fakeService((_, index) => {
      if (index === steps.length - 1) setImmediate(() => send('SIGINT'));
      return steps[index] as Reply;
    });
    const { code, stderr } = await run('sms send 99112233 hi', { ...service, onSignal });
    expect(code).toBe('SIGINT');
    const key = service.requests[0]?.headers['Idempotency-Key'];
    expect(stderr.includes(`repeat it with --idempotency-key ${key}`)).toBe(inDoubt);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends a command whose output nobody takes: %s', async (signal) => {
    const { send, onSignal } = signals();
    const { fetch } = fakeService(() => ({ body: smsResult() }));
    const stuck: OutputStream = {
      write() {
        setImmediate(() => send(signal));
        return false;
      },
      on: () => stuck,
    };
    expect(await run('messages get a b -o csv', { fetch, onSignal, stdout: stuck })).toMatchObject({
      code: signal,
      slept: 2_000,
    });
  });

  const queued = emailResult({ to: 'a@b.mn', balance: 90 });
  const failed = refusal(502, 'provider_failed', { id: 'm' });

  it.each<[string, string, Reply[]]>([
    ['its body', 'sms send 99112233 hi', [{ hangs: true }]],
    ['the body of a repeat', 'sms send 99112233 hi', [{ status: 503 }, { hangs: true }]],
    ['its body, as JSON', 'sms send 99112233 hi --json', [{ hangs: true }]],
    ['what became of it', 'email send a@b.mn --subject s --text t --wait -q', [{ body: queued }]],
    [
      'what became of it, as JSON',
      'email send a@b.mn --subject s --text t --wait --json',
      [{ body: queued }],
    ],
    [
      'what became of its repeat under a new key',
      'email send a@b.mn --subject s --text t --wait -q',
      [failed, { body: queued }],
    ],
  ])('while a send waits for %s: its last key is named', async (_, line, steps) => {
    const { send, onSignal } = signals();
    const service = fakeService(({ method }, index) => {
      const step = method === 'GET' ? { body: queued } : (steps[index] as Reply);
      if (method === 'GET' || step.hangs) setImmediate(() => setImmediate(() => send('SIGTERM')));
      return step;
    });
    const { code, stdout, stderr } = await run(line, { ...service, onSignal });
    expect({ code, stdout }).toEqual({ code: 'SIGTERM', stdout: '' });
    const last = service.requests.findLast(({ method }) => method === 'POST');
    expect(stderr).toContain(`repeat it with --idempotency-key ${last?.headers['Idempotency-Key']}`);
  });

  it.each([
    ['Message-ID: <1@b.mn>\n', 'Submit the same message again'],
    ['', 'Check before you submit it again'],
  ])('while sendmail waits for its answer: %j decides what it says', async (header, hint) => {
    const { send, onSignal } = signals();
    const service = fakeService(() => {
      setImmediate(() => setImmediate(() => send('SIGTERM')));
      return { hangs: true };
    });
    const stdin = `${header}To: a@b.mn\nSubject: s\n\nhi\n`;
    const { code, stderr } = await run('sendmail -t', { ...service, onSignal, stdin });
    expect({ code, stderr }).toEqual({ code: 'SIGTERM', stderr: expect.stringContaining(hint) });
    expect(stderr).not.toContain('--idempotency-key');
  });

  it('lets serve close first, and is what the process then dies by', async () => {
    const { send, onSignal } = signals();
    const { closed, openService } = serving(() => send('SIGINT'));
    expect(await run('serve --drain-time 0', { openService, onSignal })).toMatchObject({ code: 'SIGINT' });
    expect(closed).toEqual(['drained', 'listening', 'service']);
  });

  it.each([
    ['serve', undefined, 5_000],
    ['serve', 100, 0],
    ['serve --drain-time 20', undefined, 20_000],
    ['serve --drain-time 20', 100, 20_000],
  ])(
    'of %s, with a terminal %s wide, lets it serve on for %i ms, as not ready',
    async (line, terminal, ms) => {
      const { send, onSignal } = signals();
      const drained: number[] = [];
      const { closed, openService } = serving(() => send('SIGTERM'));
      const clock = {
        async sleep(milliseconds: number) {
          // After that it must have ended.
          if (milliseconds >= 40_000) await new Promise(() => {});
          if (closed.length === 1) drained.push(milliseconds);
        },
      };
      const given = terminal === undefined ? {} : { terminal };
      const { code } = await run(line, { openService, onSignal, clock, ...given });
      expect(code).toBe('SIGTERM');
      expect(drained).toEqual(ms === 0 ? [] : [ms]);
      expect(closed).toEqual(['drained', 'listening', 'service']);
    },
  );

  it('that comes a second time ends it while it drains', async () => {
    const { send, onSignal } = signals();
    const { closed, openService } = serving(() => send('SIGTERM'));
    const clock = {
      async sleep(milliseconds: number) {
        if (milliseconds === 5_000) setImmediate(() => send('SIGTERM'));
        await new Promise(() => {});
      },
    };
    expect(await run('serve', { openService, onSignal, clock })).toMatchObject({ code: 'SIGTERM' });
    expect(closed[0]).toBe('drained');
    expect(closed).not.toContain('listening');
  });

  it('lets serve answer a single SMS, whose carrier may take 20 s', async () => {
    const { send, onSignal } = signals();
    let answered = () => {};
    const { closed, openService } = serving(
      () => send('SIGTERM'),
      new Promise<void>((resolve) => (answered = resolve)),
    );
    const clock = {
      async sleep(milliseconds: number) {
        if (milliseconds <= 20_000) return;
        answered();
        await new Promise(() => {});
      },
    };
    expect(await run('serve --drain-time 0', { openService, onSignal, clock })).toMatchObject({
      code: 'SIGTERM',
    });
    expect(closed).toEqual(['drained', 'listening', 'service']);
  });

  it('that comes a second time ends it in any case', async () => {
    const { send, onSignal } = signals();
    const never = new Promise<void>(() => {});
    const { openService } = serving(() => {
      send('SIGINT');
      setImmediate(() => send('SIGINT'));
    }, never);
    expect(await run('serve --drain-time 0', { openService, onSignal })).toMatchObject({ code: 'SIGINT' });
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('ends it after 40 s in any case: %s', async (signal) => {
    const { send, onSignal } = signals();
    const never = new Promise<void>(() => {});
    const { openService } = serving(() => send(signal), never);
    expect(await run('serve --drain-time 0', { openService, onSignal })).toMatchObject({
      code: signal,
      slept: 40_000,
    });
  });

  it('ends a serve that waits to open its data, after 5 s', async () => {
    const { send, onSignal } = signals();
    const openService = () => {
      send('SIGTERM');
      return new Promise<never>(() => {});
    };
    expect(await run('serve --drain-time 0', { openService, onSignal })).toMatchObject({
      code: 'SIGTERM',
      slept: 5_000,
    });
  });

  it.each<[Signal, Signal | null]>([
    ['SIGTERM', null],
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
  ])('ends the last of closing, too: %s, then %s', async (first, second) => {
    const { send, onSignal } = signals();
    let timeIsOver = () => {};
    const { closed, openService } = serving(
      () => send(first),
      Promise.resolve(),
      () => {
        setImmediate(second === null ? timeIsOver : () => send(second));
        return new Promise(() => {});
      },
    );
    const clock = { sleep: () => new Promise<void>((resolve) => (timeIsOver = resolve)) };
    expect(await run('serve --drain-time 0', { openService, onSignal, clock })).toMatchObject({
      code: first,
    });
    expect(closed).toEqual(['drained', 'listening', 'service']);
  });

  it('of a terminal that is closed comes more than once, and what is under way still ends first', async () => {
    const { send, onSignal } = signals();
    const { closed, openService } = serving(() => {
      send('SIGHUP');
      send('SIGHUP');
    });
    expect(await run('serve --drain-time 0', { openService, onSignal })).toMatchObject({ code: 'SIGHUP' });
    expect(closed).toEqual(['drained', 'listening', 'service']);
  });

  it('in a question, as Ctrl-C, is SIGINT, and nothing is sent', async () => {
    const { Interrupted } = await import('../../src/cli/errors.js');
    const service = fakeService(() => ({}));
    const questions = { ...answers(), text: () => Promise.reject(new Interrupted()) };
    expect(await run('sms send', { ...service, questions, terminal: 100 })).toMatchObject({ code: 'SIGINT' });
    expect(service.requests).toEqual([]);
  });
});
