import { describe, expect, it } from 'vitest';
import { askDoNotSend } from '../../../../../src/cli/commands/bulk/confirm/do-not-send.js';
import { memoryPlan, numbers } from '../../../bulk/memory-plan.js';
import { Refused } from '../../../bulk/model-service.js';

type Context = Parameters<typeof askDoNotSend>[0];

/** A service with these numbers on its list, or one that answers otherwise. */
function desk(listed: readonly string[], answer?: () => Promise<never>, hasTokens = true) {
  const asked: string[][] = [];
  const check = async ({ to }: { to: string[] }) => {
    asked.push(to);
    await answer?.();
    return {
      data: to.filter((each) => listed.includes(each)).map((each) => ({ to: each, reason: 'manual' })),
    };
  };
  const context = {
    io: { withProgress: (_: string, work: () => unknown) => work() },
    clock: {
      after(_: number, run: () => void) {
        if (answer === never || !hasTokens) setImmediate(run);
        return () => {};
      },
    },
    network: {
      unlimitedClient: async () => ({
        client: {
          suppressions: {
            check: (params: { to: string[] }, { signal }: { signal: AbortSignal }) =>
              Promise.race([
                check(params),
                new Promise((_, reject) =>
                  signal.addEventListener('abort', () => reject(new Refused('connection_error', null))),
                ),
              ]),
          },
        },
        limiter: {
          take: (_: string, signal: AbortSignal) =>
            hasTokens || new Promise((resolve) => signal.addEventListener('abort', () => resolve(false))),
        },
      }),
    },
  } as unknown as Context;
  return { context, asked };
}

const never = () => new Promise<never>(() => {});
const batches = (count: number, size = 1_000) =>
  memoryPlan(Array.from({ length: count }, (_, at) => ({ to: numbers(size, at * size), text: `${at}` })));

describe('the question of the preview, who is on the do-not-send list', () => {
  it('is asked for 1,000 at a time, and says what comes back', async () => {
    const { context, asked } = desk([...numbers(2), ...numbers(1, 2_100), ...numbers(1, 9_000)]);
    const found = await askDoNotSend(context, batches(5, 500));
    expect(found).toEqual({ recipients: 3, of: 2_500, credits: 30 });
    expect(asked.map((to) => to.length)).toEqual([1_000, 1_000, 500]);
  });

  it('asks once for a recipient of several messages, each of which counts', async () => {
    const { context, asked } = desk(numbers(1));
    const plan = memoryPlan(['a', 'b', 'c'].map((text) => ({ to: numbers(1), text })));
    expect(await askDoNotSend(context, plan)).toEqual({ recipients: 3, of: 3, credits: 30 });
    expect(asked).toEqual([numbers(1)]);
  });

  it('is about the requests that are left', async () => {
    const { context, asked } = desk(numbers(3));
    const left = await askDoNotSend(context, batches(2, 2), ({ number }) => number === 1);
    expect(left).toEqual({ recipients: 1, of: 2, credits: 10 });
    expect(asked).toEqual([numbers(2, 2)]);
    expect(await askDoNotSend(context, batches(2, 2), () => false)).toBeNull();
  });

  it('is one question about more than 50,000, which the service leaves out', async () => {
    const { context, asked } = desk(numbers(3));
    expect(await askDoNotSend(context, batches(51))).toEqual({ unknown: 'too_many' });
    expect(asked.map((to) => to.length)).toEqual([1_000]);
    expect(await askDoNotSend(context, batches(50))).toMatchObject({ of: 50_000 });
  });

  it.each([
    ['a service without the list', 404, 'not_found', null],
    ['a service that lets nobody post there', 405, 'method_not_allowed', null],
    ['a key that may not ask', 403, 'forbidden', null],
    ['a service that fails', 503, 'unavailable', { unknown: 'unavailable' }],
    ['a service that is asked too often', 429, 'rate_limited', { unknown: 'rate_limited' }],
    ['a service that cannot be reached', null, 'connection_error', { unknown: 'connection_error' }],
  ])('never stops the preview: %s', async (_, status, code, found) => {
    const refuse = () => Promise.reject(new Refused(code, status));
    for (const plan of [batches(3), batches(51)]) {
      const { context, asked } = desk([], refuse);
      expect(await askDoNotSend(context, plan)).toEqual(found);
      expect(asked).toHaveLength(1);
    }
  });

  it.each([
    ['is not answered in time', never, true],
    ['gets no token of the rate limit in time', undefined, false],
  ])('is given up if it %s', async (_, answer, hasTokens) => {
    const { context } = desk([], answer, hasTokens);
    expect(await askDoNotSend(context, batches(3))).toEqual({ unknown: 'timeout' });
  });
});
