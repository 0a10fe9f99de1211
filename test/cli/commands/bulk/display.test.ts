import { describe, expect, it } from 'vitest';
import type { BulkEvent } from '../../../../src/cli/bulk/send/events.js';
import { Pauses, partOf, progressWords } from '../../../../src/cli/commands/bulk/display.js';
import { numbers } from '../../bulk/memory-plan.js';
import { desk, figures as figuresOf, people, personal } from './desks.js';

const counts = {
  planned: 2_600,
  ...{ accepted: 1_200, sent: 900, unknown: 0, queued: 300 },
  ...{ rejected: 3, failed: 4, suppressed: 0, moved: 0, in_doubt: 0, pending: 1_393 },
};
const figures = { counts, credits: 12_000 };
/** The only open request waits. */
const waiting = (why: string, milliseconds: number): BulkEvent => ({
  ...{ ...figures, open: 1, balance: null },
  ...{ type: 'waiting', request: 0, why, milliseconds },
});
const pace = { waits: false, secondsLeft: 12, rate: 19.8 };

describe('the one line of a running job', () => {
  it.each([
    ['sends', {}, pace, '1,200 of 2,600 accepted, 7 failed, 12 s left, 20/s, 12,000 credits'],
    [
      'waits',
      {},
      { ...pace, waits: true },
      '900 of 2,600 sent, 7 failed, 1,200 accepted, 12 s left, 20/s, 12,000 credits',
    ],
    [
      'waits, and nothing has failed',
      { rejected: 0, failed: 0 },
      { ...pace, waits: true },
      '900 of 2,600 sent, 1,200 accepted, 0 failed, 12 s left, 20/s, 12,000 credits',
    ],
    [
      'does not know whether some arrived',
      { unknown: 18 },
      { ...pace, waits: true },
      '900 of 2,600 sent, 7 failed, 18 unknown, 1,200 accepted, 12 s left, 20/s, 12,000 credits',
    ],
    [
      'is in doubt',
      { in_doubt: 5 },
      pace,
      '1,200 of 2,600 accepted, 7 failed, 5 in doubt, 12 s left, 20/s, 12,000 credits',
    ],
    [
      'waits for the service',
      {},
      { ...pace, waiting: 'rate limit reached, next try in 10 s' },
      '1,200 of 2,600 accepted, 7 failed, rate limit reached, next try in 10 s, 20/s, 12,000 credits',
    ],
    [
      'has just begun',
      {},
      { ...pace, secondsLeft: null, rate: null },
      '1,200 of 2,600 accepted, 7 failed, 12,000 credits',
    ],
    [
      'is stuck',
      {},
      { ...pace, secondsLeft: Infinity, rate: 0 },
      '1,200 of 2,600 accepted, 7 failed, 12,000 credits',
    ],
    [
      'knows nothing',
      {},
      { ...pace, secondsLeft: Number.NaN, rate: 0 },
      '1,200 of 2,600 accepted, 7 failed, 12,000 credits',
    ],
  ])('%s', (_, change, at, line) => {
    expect(progressWords({ ...figures, counts: { ...counts, ...change } }, at).join(', ')).toBe(line);
  });

  it('is full when everything is accepted, and with --wait when everything is final', () => {
    expect(partOf(counts, false)).toEqual({ done: 1_207, total: 2_600 });
    expect(partOf(counts, true)).toEqual({ done: 907, total: 2_600 });
    const all = { ...counts, accepted: 2_593, sent: 2_593, queued: 0, pending: 0 };
    expect([partOf(all, false).done, partOf(all, true).done]).toEqual([2_600, 2_600]);
  });
});

it.each([
  ['connection_error', 'service unreachable, next try in 4 s'],
  ['rate_limited', 'rate limit reached, next try in 4 s'],
  ['internal_error', 'internal_error, next try in 4 s'],
])('a wait after %s has words for people', (why, words) => {
  expect(new Pauses().words(waiting(why, 4_000))).toBe(words);
});

describe('recipients over their cap', () => {
  const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d';
  const over = (count: number) => new Map(numbers(count).map((each) => [each, 1] as const));

  it.each([
    [1, 11, '10 of 11', '1 recipient'],
    [11, 11, '0 of 11', '11 recipients'],
  ])('%i of %i: one line on a pipe when the wait begins', async (capped, all, accepted, what) => {
    const here = desk(people(all), { capped: over(capped) });
    const { code, stderr } = await here.run(`${personal} --concurrency 1`);
    expect(code).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes(' over '));
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^${accepted} accepted, 0 failed, ${what} over the cap until ${time}`),
      ),
    ]);
  });

  it('are the only thing that an idle job waits for, until it stops', () => {
    const pauses = new Pauses();
    const wait = waiting('recipient_rate_limited', 20_000);
    pauses.follow({ ...wait, open: 2 }, 0);
    expect(pauses.isIdle).toBe(false);
    pauses.follow(wait, 0);
    expect(pauses.isIdle).toBe(true);
    expect(pauses.words(wait)).toMatch(new RegExp(`^1 recipient over the cap until ${time}$`));
    pauses.follow({ ...figures, open: 1, balance: null, type: 'stopping', why: 'signal' }, 0);
    pauses.follow(wait, 0);
    expect([pauses.isIdle, pauses.isStopping]).toEqual([false, true]);
  });

  it('are no news where nothing waits for them', async () => {
    const here = desk(people(2), { capped: over(2) });
    const { code, stderr } = await here.run(`${personal} --max-wait 10s`);
    expect(code).toBe(5);
    expect(stderr).not.toContain('over the cap until');
  });

  it('leave no time that is shorter than their wait to jobs show and jobs list', async () => {
    const here = desk(people(11), { capped: over(1) });
    const shown: number[] = [];
    let looked = false;
    const { code } = await here.run(`${personal} --concurrency 1`, {
      clock: {
        async sleep(milliseconds) {
          if (milliseconds < 15_000 || looked) return;
          looked = true;
          const now = () => Date.parse('2026-11-21T00:00:05.000Z');
          const { stdout } = await here.run('jobs show july --json', { clock: { now } });
          shown.push(figuresOf(stdout).seconds_left as number);
        },
      },
    });
    expect(code).toBe(0);
    expect(shown).toEqual([expect.any(Number)]);
    expect(shown[0]).toBeGreaterThanOrEqual(14);
  });
});
