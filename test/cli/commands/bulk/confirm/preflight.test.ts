import { describe, expect, it } from 'vitest';
import { JobState } from '../../../../../src/cli/bulk/job/job-state.js';
import {
  dueOf,
  type Paid,
  type Preflight,
  paidOf,
  preflightOf,
} from '../../../../../src/cli/commands/bulk/confirm/preflight.js';
import { preflightLines } from '../../../../../src/cli/commands/bulk/confirm/preflight-lines.js';
import { counted, duration, grouped } from '../../../../../src/cli/text/wording.js';
import { memoryPlan, numbers } from '../../../bulk/memory-plan.js';

describe('numbers for people', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1,000'],
    [123_456, '123,456'],
    [1_234_567, '1,234,567'],
    [-43_280, '-43,280'],
  ])('%i is %s', (value, text) => expect(grouped(value)).toBe(text));

  it.each([
    [1, 'recipient', '1 recipient'],
    [0, 'recipient', '0 recipients'],
    [2_600, 'recipient', '2,600 recipients'],
    [1, 'batch', '1 batch'],
    [2, 'batch', '2 batches'],
  ])('%i %s is %s', (count, one, text) => expect(counted(count, one)).toBe(text));

  it.each([
    [0, '1 s'],
    [89, '89 s'],
    [90, '2 min'],
    [5_400, '1.5 h'],
  ])('%i seconds are %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});

const plan: Preflight = {
  job: 'july',
  channel: 'sms',
  to_column: 'phone',
  delimiter: ';',
  sheet: null,
  recipients: 2_600,
  merged: 3,
  rejected: 0,
  repaired: 1_709,
  requests: 475,
  batches: 289,
  singles: 186,
  cost: [
    { kind: 'latin', recipients: 1, parts: 1, credits: 10 },
    { kind: 'cyrillic', recipients: 2_599, parts: 5_198, credits: 51_980 },
  ],
  parts: 5_199,
  credits: 51_990,
  balance: 100_000,
  sent_before: 0,
  skips_sent: false,
  not_matched: 0,
  excluded: 0,
  later: 0,
  seconds: 22,
  messages: 475,
  first_message: { to: '99112233', subject: null, text: 'Сайн уу, Бат!', parts: 1 },
  longest_message: {
    to: '99112244',
    subject: null,
    text: `Сайн уу, Сараа!\r\n${'урт '.repeat(30)}`,
    parts: 3,
  },
  nameless_columns: 0,
  short_rows: 0,
  suppressed: null,
};

const outcome = {
  toColumn: 'phone',
  delimiter: ',',
  sheet: null,
  preview: null,
  repairs: {},
  unread: { columns: 0, shortRows: 0 },
  fallbacks: [],
  replaced: 0,
  rows: 1_000,
  leftOut: { where: 0, only: 0, exclude: 0 },
  ...{ later: 0, alreadySent: 0, hiddenRows: 0, leavesOutHidden: false, isNew: false },
} as const;
const prices = { known: true, balance: 5_000, isForbidden: false };
const earlier = { recipients: 0, unfinished: 0, skipped: false, toConfirm: 0, open: new Map() };
const whole = { outcome, prices, earlier, suppressed: null, options: {}, columns: 120, mask: false };

function linesWith(
  figures: Partial<Preflight>,
  {
    paid = { certain: 0, inDoubt: 0 },
    ...shown
  }: Partial<Parameters<typeof preflightLines>[1]> & { paid?: Paid } = {},
) {
  const preflight = { ...plan, ...figures };
  return preflightLines(preflight, { ...whole, due: dueOf(preflight, paid), ...shown });
}

describe('what is shown before a job is sent', () => {
  it.each([
    [null, []],
    [{ recipients: 0, of: 2_000, credits: 0 }, []],
    [
      { recipients: 2, of: 2_000, credits: 20 },
      [
        'Suppressed  2 of 2,000 are on the do-not-send list and will be left out',
        '            (20 credits come back)',
      ],
    ],
    [
      { recipients: 1, of: 1, credits: 0 },
      ['Suppressed  1 of 1 is on the do-not-send list and will be left out'],
    ],
    [
      { unknown: 'timeout' },
      [
        'Suppressed  not counted (no answer); the service skips anyone on its do-not-send',
        '            list',
      ],
    ],
    [
      { unknown: 'too_many' },
      [
        'Suppressed  not counted (too many recipients); the service skips anyone on its',
        '            do-not-send list',
      ],
    ],
  ])('says who is on the do-not-send list: %j', (suppressed, expected) => {
    const lines = linesWith({}, { suppressed });
    const at = lines.findIndex((line) => line.startsWith('Suppressed'));
    expect(at === -1 ? [] : lines.slice(at, at + expected.length)).toEqual(expected);
  });

  it('is an aligned block', () => {
    const repairs = { separators: 1_285, country_code: 850 };
    expect(linesWith({}, { outcome: { ...outcome, repairs } })).toEqual([
      'Job         july (sms)',
      'Column      phone (delimiter: semicolon)',
      'Recipients  2,600 (3 merged, 0 rejected, 1,709 repaired)',
      'Repaired    1,285 with separators, 850 with a country code',
      'First       to 99112233, 1 part',
      '            Сайн уу, Бат!',
      'Longest     to 99112244, 3 parts',
      '            Сайн уу, Сараа!',
      `            ${'урт '.repeat(17).trim()}`,
      `            ${'урт '.repeat(13).trim()}`,
      'Latin       1 recipient, 1 part, 10 credits',
      'Cyrillic    2,599 recipients, 5,198 parts, 51,980 credits',
      'Requests    475 (289 batches, 186 singles)',
      'Time        about 22 s at the rate limit',
      'Credits     51,990 of 100,000',
    ]);
  });

  it('says what a list lacks without harm', () => {
    const lines = linesWith({ nameless_columns: 1, short_rows: 1_200 });
    expect(lines.slice(1, 4)).toEqual([
      'Column      phone (delimiter: semicolon)',
      'Left out    1 column without a name',
      'Short rows  1,200: the missing last fields are empty',
    ]);
  });

  it('counts of a job that goes on only what is left, at the rate that was asked for', () => {
    const { meta } = memoryPlan([{ to: numbers(1_000), text: 'Hello' }]);
    const findings = { ...whole, shared: null };
    const remaining = { requests: 120, rate: 10 };
    const shown = { paid: { certain: 4_000, inDoubt: 0 }, options: { rate: 10 }, columns: 80 };
    const preflight = preflightOf({ job: 'july', meta }, findings, remaining, false);
    expect(linesWith(preflight, shown).slice(-2)).toEqual([
      'Time        about 10 s at 10/s',
      'Credits     6,000 of 5,000: 1,000 missing',
    ]);
    expect(dueOf({ ...preflight, balance: 6_000 }, shown.paid).missing).toBe(0);
  });

  it('names the sheets of a report that one sheet has no room for', () => {
    const shown = (recipients: number, report: string) => linesWith({ recipients }, { options: { report } });
    const room = 1_048_575 - plan.merged - plan.rejected;
    expect(shown(room + 1, 'out.xlsx')).toContain('Report      2 sheets, since one holds 1,048,575 rows');
    expect(shown(5_000_000, 'OUT.XLSX')).toContain('Report      5 sheets, since one holds 1,048,575 rows');
    for (const lines of [shown(room, 'out.xlsx'), shown(room + 1, 'out.csv')])
      expect(lines.join('\n')).not.toContain('Report');
  });

  it('names no price where none is known', () => {
    const cost = [{ kind: 'latin' as const, recipients: 3, parts: 3, credits: 0 }];
    const lines = linesWith({ cost, credits: null, balance: null });
    expect(lines).toContain('Latin       3 recipients, 3 parts');
    const last = (known: object, isForbidden = false) =>
      linesWith({ cost, ...known }, { prices: { ...prices, isForbidden } }).at(-1);
    const neither = { credits: null, balance: null };
    expect(lines.at(-1)).toBe('Credits     Cost and balance unknown');
    expect(last(neither, true)).toBe('Credits     Cost and balance unknown: this key cannot read them');
    expect(last({ ...neither, balance: 990 })).toBe('Credits     Cost unknown; the balance is 990');
    expect(last({ ...neither, credits: 30 })).toBe('Credits     30; the balance is unknown');
  });

  it('fits 80 columns, whatever the figures and the name', () => {
    const many = 999_999_999;
    const repairs = {
      separators: many,
      country_code: many,
      invisible: many,
      full_width: many,
      apostrophe: many,
      exponent: many,
    };
    const lines = linesWith(
      {
        job: 'j'.repeat(100),
        recipients: many,
        merged: many,
        rejected: many,
        repaired: many,
        requests: many,
        batches: many,
        singles: many,
        cost: [{ kind: 'cyrillic', recipients: many, parts: many, credits: many }],
        credits: many,
        balance: 0,
        seconds: 9_999_999,
      },
      { outcome: { ...outcome, repairs } },
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.join(' ')).toContain('999,999,999 missing');
  });

  it('fits 40 columns', () => {
    const lines = linesWith({}, { outcome: { ...outcome, repairs: { separators: 1_285 } }, columns: 40 });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines).toEqual(
      expect.arrayContaining(['Cyrillic    2,599 recipients,', expect.stringMatching(/^ {12}5,198 parts/)]),
    );
  });

  it('shows a message that everybody gets once, and the beginning of a long one', () => {
    const email = { to: 'bat@example.mn', subject: 'July', text: 'x'.repeat(2_000), parts: null };
    const messages = {
      messages: 1,
      first_message: email,
      longest_message: { ...email, to: 'sara@example.mn' },
    };
    const lines = linesWith(messages);
    const at = lines.indexOf('Message     to bat@example.mn');
    expect(lines[at + 1]).toBe('            July');
    expect(lines[at + 2]).toMatch(/^ {12}x{800}…$/);
    expect(lines[at + 3]).toBe('            (1,200 more characters)');
    expect(lines.filter((line) => /^(?:First|Longest)/.test(line))).toEqual([]);
  });
});

describe('paidOf', () => {
  it.each([
    ['more texts of an earlier version, each at its own price', 'other', 0],
    ['the same texts at half the price', null, 20],
  ])('reads %s', async (_, digest, certain) => {
    const frozen = memoryPlan([
      { to: numbers(1), text: 'Hi ' },
      { to: numbers(1), text: 'Hi' },
      { to: numbers(1, 1), text: 'Hi ' },
      { to: numbers(1, 1), text: 'Hi' },
    ]);
    const job = { plan: frozen, state: new JobState(frozen.meta) };
    const current = { digest: digest ?? frozen.meta.digest, credits: 20 };
    expect(await paidOf(job, current)).toEqual({ certain, inDoubt: 0 });
  });
});
