import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FetchLike, UrtuuError } from '../../../src/client/index.js';
import { clientWith, FakeSystem } from '../../support/client.js';
import { smsResult } from '../../support/resources.js';

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
const problem = (code: string, status: number) =>
  Response.json({ error: { code, message: code } }, { status });

/** What happens to one request: whether the service accepts it, and how the client learns of it. */
const happenings = {
  refused: { accepts: false, end: () => Promise.reject(refused) },
  reset: { accepts: true, end: () => Promise.reject(new Error('reset')) },
  hangs: { accepts: true, end: () => new Promise<never>(() => {}) },
  busy: { accepts: false, end: async () => problem('rate_limited', 429) },
  away: { accepts: true, end: async () => problem('unavailable', 503) },
  credits: { accepts: false, end: async () => problem('insufficient_credits', 402) },
  sent: { accepts: true, end: async () => Response.json(smsResult()) },
} satisfies Record<string, { accepts: boolean; end: () => Promise<Response> }>;
type Happening = keyof typeof happenings;

/** When the caller aborts: within a request, right after it, in the pause after it, or never. */
type Moment = { attempt: number; at: 'request' | 'answer' | 'pause' } | null;

describe('a call that is aborted at any moment', () => {
  const kinds = fc.array(fc.constantFrom(...(Object.keys(happenings) as Happening[])), {
    minLength: 4,
    maxLength: 4,
  });
  const moment: fc.Arbitrary<Moment> = fc.option(
    fc.record({
      attempt: fc.integer({ min: 0, max: 3 }),
      at: fc.constantFrom('request' as const, 'answer' as const, 'pause' as const),
    }),
  );

  it('sends nothing afterwards, and never calls a message unsent that was accepted', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, moment, async (steps, moment) => {
        const controller = new AbortController();
        const { signal } = controller;
        const system = new FakeSystem();
        let requests = 0;
        let accepted = false;
        let late = false;
        const abortAt = (at: 'request' | 'answer' | 'pause') => {
          if (moment?.at === at && moment.attempt === requests - 1) controller.abort('enough');
        };
        system.sleep = async () => abortAt('pause');
        const fetch: FetchLike = async () => {
          late ||= signal.aborted;
          const kind = steps[requests++] ?? 'sent';
          accepted ||= happenings[kind].accepts;
          abortAt('request');
          if (moment?.at === 'answer') setImmediate(() => abortAt('answer'));
          // A request that hangs ends by its timeout, unless the abort comes first.
          if (kind === 'hangs') setImmediate(() => setImmediate(() => system.expire()));
          return happenings[kind].end();
        };
        const call = clientWith({ fetch, maxRetries: 3 }, system).sms.send(
          { to: '99112233', text: 'x' },
          { signal, idempotencyKey: 'k' },
        );
        const error: unknown = await call.then(
          () => null,
          (error: unknown) => error,
        );
        expect(late).toBe(false);
        expect(getEventListeners(signal, 'abort')).toEqual([]);
        expect(system.running).toBe(0);
        if (error === null) {
          expect(accepted).toBe(true);
          return;
        }
        if (!(error instanceof UrtuuError)) throw error;
        expect(error).toMatchObject({ attempts: requests, idempotencyKey: 'k' });
        if (accepted) expect(error).toMatchObject({ requestSent: true, inDoubt: true });
        if (error.message === 'the call was aborted') {
          expect(error).toMatchObject({ code: 'connection_error', cause: 'enough', status: null });
        }
      }),
      { numRuns: 500 },
    );
  });
});
