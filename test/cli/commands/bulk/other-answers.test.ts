import { describe, expect, it } from 'vitest';
import type { Counts } from '../../../../src/cli/bulk/job/counts.js';
import type { RunOptions } from '../../../../src/cli/bulk/send/run.js';
import type { SendingClient } from '../../../../src/cli/bulk/send/send-once.js';
import { judgeJob } from '../../../../src/cli/commands/bulk/verdict.js';
import { countsWith } from '../../bulk/counts.js';
import { decoded } from '../../bulk/journal-lines.js';
import { memoryPlan, numbers } from '../../bulk/memory-plan.js';
import { clientOf, Refused } from '../../bulk/model-service.js';
import { setting } from '../../bulk/run-in.js';

const batch = memoryPlan([{ to: numbers(3), text: 'to all' }]);

/** A service whose answers are these, in order, the last one for ever. */
function answering(given: ReturnType<typeof setting>, ...answers: object[]): SendingClient {
  let sends = 0;
  return clientOf(given.service, async () => {
    sends += 1;
    return answers[Math.min(sends, answers.length) - 1] ?? {};
  });
}

const answer = (id: string, total: number, credits: unknown = total * 10) => ({
  id,
  total,
  credits,
  balance: 5,
});
type MessageLister = NonNullable<RunOptions['messageLister']>;

const listed = (...to: string[]): MessageLister => ({
  batches: {
    messages: async () => ({ data: to.map((each) => ({ to: each })) as never, next: null }),
  },
});
/** Pages with one recipient, each of which names the next one. */
const paged = (to: string, ...next: (string | null)[]): MessageLister => ({
  batches: { messages: async () => ({ data: [{ to }] as never, next: next.shift() ?? null }) },
});
const notListed = (status: number, code: string): MessageLister => ({
  batches: { messages: () => Promise.reject(new Refused(code, status)) },
});

describe('an answer whose total is not that of the body', () => {
  it.each<[string, number, string[], object, number]>([
    ['has fewer', 2, numbers(2), { accepted: 2, rejected: 1 }, 3],
    ['has more', 5, [...numbers(3), ...numbers(2, 50)], { accepted: 3, rejected: 0 }, 0],
    ['has others', 2, numbers(2, 50), { accepted: 0, rejected: 3 }, 8],
    [
      'has them written otherwise',
      4,
      [...numbers(3).map((each) => `+976 ${each}`), '88112233'],
      { accepted: 3 },
      0,
    ],
  ])('is resolved by the messages of that batch, where it %s', async (_, total, members, counts, exit) => {
    const given = setting({}, batch);
    const { state, ending } = await given.run(answering(given, answer('b', total)), {
      messageLister: listed(...members),
    });
    expect(state.counts).toMatchObject({ planned: 3, in_doubt: 0, pending: 0, ...counts });
    expect(judgeJob(state, ending).exit).toBe(exit);
    expect(given.service.keys).toHaveLength(1);
  });

  it.each<[string, number, MessageLister | undefined, object]>([
    ['no list', 2, undefined, { accepted: 2, in_doubt: 1 }],
    ['no such list', 2, notListed(404, 'not_found'), { accepted: 2, in_doubt: 1 }],
    ['no lists at all', 4, notListed(405, 'method_not_allowed'), { accepted: 2, in_doubt: 1 }],
    ['a list of a part of it', 2, listed(...numbers(1)), { accepted: 2, in_doubt: 1 }],
    ['a list with a page twice', 2, paged('99000000', 'a', 'a'), { accepted: 2, in_doubt: 1 }],
    ['a list with a recipient twice', 2, paged('99000000', 'a', null), { accepted: 2, in_doubt: 1 }],
    ['a list that has lost its recipients', 2, listed('', ''), { accepted: 2, in_doubt: 1 }],
    ['a list that has lost some of them', 2, listed('99000000', ''), { accepted: 2, in_doubt: 1 }],
    ['no list, and nothing in common', 9, notListed(404, 'not_found'), { accepted: 0, in_doubt: 3 }],
  ])(
    'counts as its figures where there is %s: the difference is in doubt, exit 6',
    async (_, total, messageLister, counts) => {
      const given = setting({}, batch);
      const { state, ending } = await given.run(answering(given, answer('b', total)), { messageLister });
      expect(state.counts).toMatchObject({ planned: 3, rejected: 0, pending: 0, ...counts });
      expect(judgeJob(state, ending).exit).toBe(6);
      expect((await given.run()).state.counts).toEqual(state.counts);
    },
  );

  it('stays in doubt while the list cannot be read, within --max-wait, and is resolved by the next run', async () => {
    const given = setting({}, batch);
    const client = answering(given, answer('b', 2));
    const start = given.clock.time;
    const first = await given.run(client, { messageLister: notListed(503, 'unavailable'), maxWait: 20_000 });
    expect(first.state.counts).toMatchObject({ in_doubt: 3 });
    expect(judgeJob(first.state, first.ending).exit).toBe(6);
    expect(given.clock.time - start).toBeLessThanOrEqual(20_000);
    const second = await given.run(client, { messageLister: listed(...numbers(2)) });
    expect(second.state.counts).toMatchObject({ accepted: 2, rejected: 1, in_doubt: 0 });
    expect(new Set(given.service.keys).size).toBe(1);
  });
});

describe("an answer that cannot be the service's stops the job, exit 6", () => {
  const two = memoryPlan([
    { to: numbers(3), text: 'one' },
    { to: numbers(3, 10), text: 'two' },
    { to: numbers(3, 20), text: 'three' },
  ]);

  it('one batch for two requests', async () => {
    const given = setting({}, two);
    const { state, ending } = await given.run(answering(given, answer('b', 3)), { concurrency: 1 });
    expect(ending.stopped).toEqual({ by: 'alarm', reason: 'batch b answers two requests, 0 and 1' });
    expect(state.counts).toMatchObject({ accepted: 3, in_doubt: 3, pending: 3 });
    expect(judgeJob(state, ending).exit).toBe(6);
    // Also when the first answer came in an earlier run.
    const later = await given.run(answering(given, answer('b', 3)), { concurrency: 1 });
    expect(later.state.counts).toMatchObject({ accepted: 3, in_doubt: 6, pending: 0 });
  });

  it('one batch for two requests that are answered at once', async () => {
    const pair = memoryPlan([
      { to: numbers(3), text: 'one' },
      { to: numbers(3, 10), text: 'two' },
    ]);
    const given = setting({}, pair);
    const { state, ending } = await given.run(answering(given, answer('b', 3)), { concurrency: 2 });
    expect(ending.stopped).toEqual({ by: 'alarm', reason: 'batch b answers two requests, 0 and 1' });
    expect(state.counts).toMatchObject({ accepted: 3, in_doubt: 3 });
    expect(judgeJob(state, ending).exit).toBe(6);
  });

  it.each([Number.POSITIVE_INFINITY, Number.NaN, '30', null, undefined, -30])(
    'a price of %s',
    async (credits) => {
      const given = setting({}, two);
      const client = answering(given, { ...answer('b', 3), credits });
      const { state, ending } = await given.run(client, { concurrency: 1 });
      expect(ending.stopped).toEqual({ by: 'alarm', reason: 'batch b has no price' });
      expect(state.counts).toMatchObject({ accepted: 0, in_doubt: 3, pending: 6 });
      expect([state.credits, judgeJob(state, ending).exit]).toEqual([0, 6]);
    },
  );
});

describe('a batch whose figures at its end are not its recipients', () => {
  it.each<[number, number, Partial<Counts>]>([
    [3, 0, { sent: 3 }],
    [1, 0, { sent: 1, in_doubt: 2 }],
    [0, 1, { failed: 1, in_doubt: 2 }],
    [0, 0, { in_doubt: 3 }],
    [2, 2, { failed: 2, in_doubt: 1 }],
    [9, 9, { in_doubt: 3 }],
    [Number.NaN, 1, { failed: 1, in_doubt: 2 }],
    [4, -1, { sent: 2, in_doubt: 1 }],
  ])('%i sent and %i failed of 3: the difference is in doubt', async (sent, failed, counts) => {
    const given = setting({}, batch);
    const { state, ending } = await given.run();
    state.apply(decoded(['final', 0, sent, failed, null]));
    expect(state.counts).toEqual(countsWith(counts));
    expect(judgeJob(state, { ...ending, waited: { final: true, refused: null } }).exit === 6).toBe(
      state.counts.in_doubt > 0,
    );
  });
});
