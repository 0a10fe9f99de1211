import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { FetchLike, WaitOptions } from '../../src/client/index.js';
import type { System } from '../../src/client/system.js';
import { clientWith, FakeSystem, failureOf } from '../support/client.js';
import { batchResult } from '../support/resources.js';

/** Time that goes on only while somebody sleeps, or by `advance`: timers that are due run on the way. */
class RunningTime extends FakeSystem implements System {
  readonly #due = new Map<() => void, number>();

  override after(milliseconds: number, run: () => void): () => void {
    this.#due.set(run, this.time + milliseconds);
    return () => this.#due.delete(run);
  }

  override get running(): number {
    return this.#due.size;
  }

  advance(milliseconds: number, until: () => boolean = () => false): void {
    const end = this.time + milliseconds;
    for (;;) {
      const [next] = [...this.#due].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b);
      if (next === undefined || until()) break;
      this.time = Math.max(this.time, next[1]);
      this.#due.delete(next[0]);
      next[0]();
    }
    if (!until()) this.time = end;
  }

  override async sleep(milliseconds: number, signal: AbortSignal | null): Promise<void> {
    this.slept.push(milliseconds);
    this.advance(milliseconds, () => signal?.aborted === true);
  }
}

type Step = (init: { signal: AbortSignal }) => Promise<Response>;
const processing: Step = async () => Response.json(batchResult({ status: 'processing' }));
const completed: Step = async () => Response.json(batchResult({ status: 'completed' }));
const fails =
  (status: number, code: string, headers: Record<string, string> = {}): Step =>
  async () =>
    Response.json({ error: { code, message: code } }, { status, headers });
const reset: Step = () => Promise.reject(new Error('reset'));

/** The end of a wait for a batch whose polls go through the steps, the last one again and again. */
function waiting(steps: Step[], options: WaitOptions = {}, clientOptions = {}) {
  const system = new RunningTime();
  const polls: number[] = [];
  const started = system.time;
  const fetch: FetchLike = (_, init) => {
    polls.push(system.time - started);
    return (steps[polls.length - 1] ?? (steps.at(-1) as Step))(init);
  };
  const call = clientWith({ fetch, maxRetries: 0, ...clientOptions }, system).batches.wait('b', options);
  return { call, polls, system };
}

describe('batches.wait', () => {
  it('gives the completed batch, and leaves no timer', async () => {
    const { call, polls, system } = waiting([processing, processing, completed]);
    expect(await call).toMatchObject({ status: 'completed' });
    expect(polls).toHaveLength(3);
    expect(system.running).toBe(0);
  });

  it('polls at once, then 0.5 to 15 s apart, ever more seldom', async () => {
    const { call, polls, system } = waiting([...Array(20).fill(processing), completed]);
    await call;
    const gaps = polls.slice(1).map((at, index) => at - (polls[index] as number));
    expect(polls[0]).toBe(0);
    expect(gaps[0]).toBe(500);
    expect(gaps.at(-1)).toBe(15_000);
    expect([...gaps].sort((a, b) => a - b)).toEqual(gaps);
    expect(system.slept).toEqual(gaps);
  });

  it.each([
    [undefined, 600_000],
    [1_000, 1_000],
  ])('with timeout %s ends with timeout after %d ms, from a pause', async (timeout, after) => {
    const { call, polls, system } = waiting([processing], { timeout });
    const started = system.time;
    expect(await failureOf(call)).toMatchObject({
      code: 'timeout',
      status: null,
      message: `the batch is not completed after ${after} ms`,
      requestSent: true,
      inDoubt: false,
      attempts: polls.length,
      cause: { name: 'TimeoutError' },
    });
    expect(system.time - started).toBe(after);
    expect(system.running).toBe(0);
  });

  it('ends a poll that hangs at its limit, not at that of the client', async () => {
    const hanging: Step = () => new Promise(() => {});
    const { call, system } = waiting([processing, hanging], { timeout: 5_000 }, { timeout: 30_000 });
    while (system.running < 2 || system.slept.length === 0) await new Promise(setImmediate);
    system.advance(5_000);
    expect(await failureOf(call)).toMatchObject({ code: 'timeout', attempts: 2, requestSent: true });
    expect(system.running).toBe(0);
  });

  it('each poll keeps the timeout of the client', async () => {
    const hanging: Step = () => new Promise(() => {});
    const { call, polls, system } = waiting([hanging, completed], {}, { timeout: 2_000 });
    while (polls.length === 0) await new Promise(setImmediate);
    system.advance(2_000);
    expect(await call).toMatchObject({ status: 'completed' });
    expect(polls).toEqual([0, 2_500]);
  });

  it.each<[string, Step, number]>([
    ['no answer', reset, 500],
    ['a 5xx', fails(503, 'unavailable'), 500],
    ['a page of a proxy', async () => new Response('<h1>', { status: 502 }), 500],
    ['a rate limit', fails(429, 'rate_limited', { 'Retry-After': '30' }), 30_000],
  ])('goes on after %s', async (_, step, pause) => {
    const { call, polls } = waiting([step, completed]);
    expect(await call).toMatchObject({ status: 'completed' });
    expect(polls).toEqual([0, pause]);
  });

  it('names the last failure of a poll as the cause of its timeout', async () => {
    const { call } = waiting([processing, fails(503, 'unavailable', { 'X-Request-Id': 'r-9' })], {
      timeout: 2_000,
    });
    expect(await failureOf(call)).toMatchObject({
      code: 'timeout',
      requestId: 'r-9',
      cause: { code: 'unavailable' },
    });
  });

  it('that never reached the service says so', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const { call } = waiting([() => Promise.reject(refused)], { timeout: 2_000 });
    expect(await failureOf(call)).toMatchObject({ code: 'timeout', requestSent: false });
  });

  it.each<[string, Step, string]>([
    ['a missing batch', fails(404, 'not_found'), 'not_found'],
    ['a bad key', fails(401, 'unauthorized'), 'unauthorized'],
    ['a sign-in page', async () => new Response('<h1>', { status: 200 }), 'unexpected_response'],
    ['a batch without a status', async () => Response.json({ id: 'b', total: 1 }), 'unexpected_response'],
  ])('throws %s at once', async (_, step, code) => {
    const { call, polls, system } = waiting([processing, step]);
    expect(await failureOf(call)).toMatchObject({ code, attempts: 2 });
    expect(polls).toHaveLength(2);
    expect(system.running).toBe(0);
  });

  it('retries a poll as often as maxRetries says', async () => {
    const { call, polls } = waiting([reset, reset, completed], { maxRetries: 2 });
    await call;
    expect(polls).toEqual([0, 500, 1_500]);
  });

  it('is aborted while it pauses', async () => {
    const controller = new AbortController();
    const { call, polls, system } = waiting([processing], { signal: controller.signal });
    const sleep = system.sleep.bind(system);
    system.sleep = (milliseconds, signal) => {
      if (polls.length === 3) controller.abort('enough');
      return sleep(milliseconds, signal);
    };
    expect(await failureOf(call)).toMatchObject({
      code: 'connection_error',
      cause: 'enough',
      message: 'the call was aborted',
      attempts: 3,
    });
    expect(polls).toHaveLength(3);
    expect(system.running).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
