import { describe, expect, it } from 'vitest';
import { partOf, progressWords } from '../../../../src/cli/commands/bulk/display.js';

const tally = { planned: 2_600, accepted: 1_200, rejected: 3, failed: 4, in_doubt: 0, pending: 1_393 };
const figures = { tally, sent: 900, credits: 12_000 };
const pace = { waits: false, secondsLeft: 12, rate: 19.8 };

describe('the one line of a running job', () => {
  it.each([
    ['sends', {}, pace, '1,200 of 2,600 accepted, 7 failed, 12 s left, 20/s, 12,000 credits'],
    [
      'waits',
      {},
      { ...pace, waits: true },
      '1,200 of 2,600 accepted, 7 failed, 900 sent, 12 s left, 20/s, 12,000 credits',
    ],
    [
      'waits, and nothing has failed',
      { rejected: 0, failed: 0 },
      { ...pace, waits: true },
      '1,200 of 2,600 accepted, 900 sent, 0 failed, 12 s left, 20/s, 12,000 credits',
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
      { ...pace, waiting: 'waiting 10 s: rate_limited' },
      '1,200 of 2,600 accepted, 7 failed, waiting 10 s: rate_limited, 20/s, 12,000 credits',
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
    expect(progressWords({ ...figures, tally: { ...tally, ...change } }, at).join(', ')).toBe(line);
  });

  it('is full when everything is accepted, and with --wait when everything is final', () => {
    expect(partOf(figures, false)).toEqual({ done: 1_207, total: 2_600 });
    expect(partOf(figures, true)).toEqual({ done: 907, total: 2_600 });
    const all = { tally: { ...tally, accepted: 2_593, pending: 0 }, sent: 2_593 };
    expect([partOf(all, false).done, partOf(all, true).done]).toEqual([2_600, 2_600]);
  });
});
