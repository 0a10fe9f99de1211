import { describe, expect, it } from 'vitest';
import { type Outcome, outcomes } from '../../../../src/cli/bulk/job/counts.js';
import type { Ending, StopReason, Waited } from '../../../../src/cli/bulk/send/ending.js';
import {
  type Facts,
  type JudgedState,
  notRun,
  type Verdict,
  verdictOf,
} from '../../../../src/cli/commands/bulk/verdict.js';

interface Known extends Partial<Omit<JudgedState, 'counts' | 'wasRefused'>> {
  /** The code with which an open request was refused last. */
  refused?: string;
}

/** A job with these recipients by outcome; everything that was accepted is final. */
function job(given: Partial<Record<Outcome, number>>, { refused, ...known }: Known = {}): JudgedState {
  const none = Object.fromEntries(outcomes.map((name) => [name, 0])) as Record<Outcome, number>;
  const all = { ...none, ...given };
  const { sent, unknown, queued, pending, in_doubt } = all;
  const planned = outcomes.reduce((sum, name) => sum + all[name], 0);
  return {
    counts: { ...all, planned, accepted: sent + unknown + queued },
    finished: pending + in_doubt === 0,
    final: queued === 0,
    knowsUnknown: true,
    movedTo: [],
    ranElsewhere: false,
    wasRefused: (code) => code === refused,
    ...known,
  };
}

const by = (stopped: StopReason): Ending => ({ stopped, waited: null });
const service = (code: string, status: number | null = null) => by({ by: 'service', code, status });
const waited = (final: boolean, refused: string | null = null): Ending => ({
  stopped: null,
  waited: { final, refused },
});
const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });

type Row = [
  title: string,
  state: JudgedState,
  ending: Ending,
  facts: Facts,
  verdict: Partial<Verdict>,
  sentence: string,
];

const finalDoubt = { exit: 6, retryable: false } as const;

describe('[cli.md Exit codes] a job ends with', () => {
  it.each<Row>([
    ['0: all accepted', job({ queued: 5 }), notRun, {}, { exit: 0 }, '5 accepted. Nothing is in doubt.'],
    ['0: all sent', job({ sent: 5 }), waited(true), {}, { exit: 0 }, '5 sent. Every outcome is known.'],
    [
      '0: all sent, by a service that never says unknown',
      job({ sent: 1_200 }, { knowsUnknown: false }),
      waited(true),
      {},
      { exit: 0 },
      '1,200 sent. Nothing is in doubt.',
    ],
    [
      '0: the rest moved to other jobs',
      job({ sent: 3, moved: 2 }, { movedTo: ['june', 'may'] }),
      notRun,
      {},
      { exit: 0 },
      '3 sent, 2 moved to june and may. Every outcome is known.',
    ],
    [
      '3: some failed',
      job({ sent: 3, failed: 2 }),
      waited(true),
      {},
      { exit: 3 },
      '3 sent, 2 failed and refunded. Every outcome is known.',
    ],
    [
      '3: some rejected',
      job({ queued: 3, rejected: 2 }),
      notRun,
      {},
      { exit: 3 },
      '3 accepted, 2 rejected. Nothing is in doubt.',
    ],
    [
      '3: one unknown',
      job({ sent: 4, unknown: 1 }),
      waited(true),
      {},
      { exit: 3 },
      '4 sent, 1 unknown: it may have arrived, and is not sent again.',
    ],
    [
      '3: several unknown',
      job({ sent: 19_982, unknown: 18 }),
      waited(true),
      {},
      { exit: 3 },
      '19,982 sent, 18 unknown: they may have arrived, and are not sent again.',
    ],
    [
      '3: rows left out',
      job({ sent: 5 }),
      notRun,
      { leftOut: 2 },
      { exit: 3 },
      '5 sent. Every outcome is known.',
    ],
    ...(['unauthorized', 'forbidden'] as const).map(
      (code): Row => [
        `4: ${code}`,
        job({ queued: 2, pending: 3 }),
        service(code),
        {},
        { exit: 4, code },
        `Stopped: ${code}. 2 accepted, 3 not sent yet. Nothing is in doubt.`,
      ],
    ),
    [
      '5: no connection was made',
      job({ pending: 5 }),
      by({ by: 'service', code: 'connection_error', status: null, detail: 'cannot connect to example.mn' }),
      {},
      { exit: 5, cause: 'connection_error' },
      'Stopped: cannot connect to example.mn. 0 accepted, 5 not sent yet. Nothing is in doubt.',
    ],
    [
      '5: rate limited',
      job({ queued: 1, pending: 4 }),
      service('rate_limited', 429),
      {},
      { exit: 5, cause: 'rate_limited' },
      'Stopped: rate limited. 1 accepted, 4 not sent yet. Nothing is in doubt.',
    ],
    [
      '5: recipients over their cap',
      job({ queued: 2, pending: 1 }, { refused: 'recipient_rate_limited' }),
      notRun,
      {},
      { exit: 5, cause: 'recipient_rate_limited' },
      'Some recipients are over their cap. 2 accepted, 1 not sent yet. Nothing is in doubt.',
    ],
    [
      '5: cancelled',
      job({ queued: 2, pending: 3 }),
      by({ by: 'cancel' }),
      {},
      { exit: 5 },
      'Cancelled. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
    [
      '5: interrupted; the process dies by the signal',
      job({ queued: 2, pending: 3 }),
      by({ by: 'signal' }),
      {},
      { exit: 5 },
      'Stopped. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
    [
      '6: no answer',
      job({ queued: 2, in_doubt: 3 }),
      service('timeout'),
      {},
      { exit: 6, cause: 'timeout' },
      'Stopped: no answer. 2 accepted, 3 in doubt.',
    ],
    [
      '6: doubt before a refused key, which no later run with it resolves',
      job({ in_doubt: 3, pending: 2 }),
      service('unauthorized', 401),
      {},
      { ...finalDoubt, cause: 'unauthorized' },
      'Stopped: unauthorized. 0 accepted, 2 not sent yet, 3 in doubt.',
    ],
    [
      '6: doubt before money',
      job({ in_doubt: 3, pending: 2 }),
      by({ by: 'limit', price: 10, increase: 1 }),
      {},
      { exit: 6 },
      'Stopped at --max-credits. 0 accepted, 2 not sent yet, 3 in doubt.',
    ],
    [
      '6: an alarm',
      job({ queued: 2, in_doubt: 1, pending: 2 }),
      by({ by: 'alarm', reason: 'one batch for two requests' }),
      {},
      { exit: 6 },
      'Stopped: one batch for two requests. 2 accepted, 2 not sent yet, 1 in doubt.',
    ],
    [
      '6: a doubt of a finished job',
      job({ queued: 2, in_doubt: 1 }, { finished: true }),
      notRun,
      {},
      finalDoubt,
      '2 accepted, 1 in doubt.',
    ],
    [
      '7: out of credits',
      job({ queued: 2, pending: 3 }),
      service('insufficient_credits', 402),
      {},
      { exit: 7 },
      'Stopped: out of credits. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
    [
      '7: out of credits in an earlier run',
      job({ queued: 2, pending: 3 }, { refused: 'insufficient_credits' }),
      notRun,
      {},
      { exit: 7 },
      '2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
    [
      '7: at --max-credits',
      job({ queued: 2, pending: 3 }),
      by({ by: 'limit', price: 10, increase: 1 }),
      {},
      { exit: 7, code: 'over_max_credits' },
      'Stopped at --max-credits. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
    [
      '8: all rejected',
      job({ rejected: 5 }),
      notRun,
      {},
      { exit: 8 },
      '0 accepted, 5 rejected. Nothing is in doubt.',
    ],
    [
      '8: a body that the service refuses',
      job({ pending: 5 }),
      service('request_too_large', 413),
      {},
      { exit: 8 },
      'Stopped: request_too_large. 0 accepted, 5 not sent yet. Nothing is in doubt.',
    ],
    [
      '9: all failed',
      job({ failed: 5 }),
      waited(true),
      {},
      { exit: 9 },
      '0 accepted, 5 failed and refunded. Nothing is in doubt.',
    ],
    [
      '11: all answers repeat earlier ones',
      job({ queued: 5 }, { ranElsewhere: true }),
      notRun,
      {},
      { exit: 11 },
      '5 accepted. Nothing is in doubt.',
    ],
    [
      '0: the same with --if-finished ok',
      job({ queued: 5 }, { ranElsewhere: true }),
      notRun,
      { allowsReplays: true },
      { exit: 0 },
      '5 accepted. Nothing is in doubt.',
    ],
    [
      '13: a full disk, even before doubt',
      job({ queued: 2, in_doubt: 3 }),
      by({ by: 'disk', doing: 'write', error: full }),
      {},
      { exit: 13 },
      'Stopped: the journal could not be written (ENOSPC), so nothing more was sent. 2 accepted, 3 in doubt.',
    ],
    [
      '13: a plan that cannot be read',
      job({ pending: 5 }),
      by({ by: 'disk', doing: 'read', error: new Error('plan.json is damaged') }),
      {},
      { exit: 13 },
      'Stopped: a file of the job could not be read (plan.json is damaged), so nothing more was sent. 0 accepted, 5 not sent yet. Nothing is in doubt.',
    ],
    [
      '13: no report',
      job({ sent: 5 }),
      notRun,
      { reported: 'unwritten' },
      { exit: 13 },
      '5 sent. Every outcome is known.',
    ],
    [
      '14: --wait ran out of time',
      job({ sent: 3, queued: 2 }),
      waited(false),
      {},
      { exit: 14 },
      '3 sent, 2 not final yet. Nothing is in doubt.',
    ],
    [
      '14: a refused look after the acceptance, with its code',
      job({ queued: 5 }),
      waited(false, 'forbidden'),
      {},
      { exit: 14, code: 'forbidden' },
      'The outcome could not be read: forbidden. 5 accepted. Nothing is in doubt.',
    ],
    [
      '14: an incomplete report',
      job({ sent: 4, failed: 1 }),
      notRun,
      { reported: 'incomplete' },
      { exit: 14 },
      '4 sent, 1 failed and refunded. Every outcome is known.',
    ],
    [
      '14: an internal error after everything was accepted',
      job({ sent: 5 }),
      by({ by: 'fault', error: new Error('bug') }),
      {},
      { exit: 14, code: 'fault' },
      'Stopped by an internal error. 5 sent. Every outcome is known.',
    ],
    [
      '1: an internal error before that',
      job({ queued: 2, pending: 3 }),
      by({ by: 'fault', error: new Error('bug') }),
      {},
      { exit: 1 },
      'Stopped by an internal error. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    ],
  ])('%s', (_, state, ending, facts, verdict, sentence) => {
    const rest = { code: null, cause: null, retryable: null };
    expect(verdictOf(state, ending, facts)).toEqual({ ...rest, ...verdict, sentence });
  });
});

describe('a job that had finished before', () => {
  const before = { allowsReplays: true, finishedBefore: 'july' };

  it.each<[string, JudgedState, Facts, Partial<Verdict>, string]>([
    ['0', job({ sent: 5 }), {}, { exit: 0 }, ''],
    ['3, with rows that this list leaves out', job({ sent: 5 }), { leftOut: 1 }, { exit: 3 }, ''],
    ['9', job({ failed: 5 }), {}, { exit: 9 }, ''],
    ['3, with unknown', job({ sent: 4, unknown: 1 }), {}, { exit: 3 }, ' with 1 unknown'],
    [
      '6, for ever',
      job({ sent: 3, unknown: 1_200, in_doubt: 1 }, { finished: true }),
      {},
      finalDoubt,
      ' with 1,200 unknown and 1 in doubt',
    ],
    ['14, if its report is incomplete now', job({ sent: 5 }), { reported: 'incomplete' }, { exit: 14 }, ''],
  ])('ends with %s', (_, state, facts, verdict, open) => {
    expect(verdictOf(state, notRun, { ...before, ...facts })).toMatchObject({
      ...verdict,
      sentence: `The job july finished before${open}; nothing was sent this time.`,
    });
  });
});

describe('a look at a job ends', () => {
  const half = job({ queued: 2, pending: 3 }, { refused: 'recipient_rate_limited' });

  it.each<[string, JudgedState, Facts['lastExit'], Ending, Partial<Verdict>]>([
    ['as its last run did, without its cause', half, 4, notRun, { exit: 4, cause: null }],
    ['by what was sent, if its last run was killed', half, null, notRun, { exit: 5, cause: null }],
    ['with 6, if a report has found doubt since', job({ in_doubt: 1 }), 0, notRun, { exit: 6 }],
    ['with 3, if a receipt has found a failure since', job({ sent: 4, failed: 1 }), 0, notRun, { exit: 3 }],
    ['with 0, if another job took what had failed', job({ sent: 4, moved: 1 }), 3, notRun, { exit: 0 }],
    [
      'as its last run did, if that allowed replays',
      job({ sent: 5 }, { ranElsewhere: true }),
      0,
      notRun,
      { exit: 0 },
    ],
    [
      'with 11 for a job that ran elsewhere',
      job({ sent: 5 }, { ranElsewhere: true }),
      11,
      notRun,
      { exit: 11 },
    ],
    ['with 5 for a killed job that was cancelled', half, null, by({ by: 'cancel' }), { exit: 5 }],
  ])('%s', (_, state, lastExit, ending, verdict) => {
    expect(verdictOf(state, ending, { lastExit })).toMatchObject(verdict);
  });
});

/** Every mixture of outcomes, with and without what else a verdict depends on. */
function* mixtures(): Generator<JudgedState> {
  for (let bits = 1; bits < 2 ** outcomes.length; bits += 1) {
    const given = Object.fromEntries(outcomes.map((name, at) => [name, ((bits >> at) & 1) * (at + 1)]));
    for (const final of [true, false])
      for (const refused of ['', 'insufficient_credits', 'recipient_rate_limited'])
        yield job(given, { final, refused });
  }
}

/** Of a run whose requests were all answered. */
const answered: readonly Waited[] = [
  { final: true, refused: null },
  { final: false, refused: null },
  { final: false, refused: 'forbidden' },
];
const afterAll: Ending[] = [
  ...[null, ...answered].map((each) => ({ stopped: null, waited: each })),
  ...['unauthorized', 'insufficient_credits', 'rate_limited', 'timeout', 'teapot'].map((code) =>
    service(code),
  ),
  by({ by: 'signal' }),
  by({ by: 'cancel' }),
  by({ by: 'alarm', reason: 'one batch for two requests' }),
  by({ by: 'disk', doing: 'write', error: full }),
  by({ by: 'fault', error: new Error('bug') }),
];
const everyFact: Facts[] = [{}, { leftOut: 1 }, { reported: 'incomplete' }, { reported: 'unwritten' }];
const everyEnding = [...afterAll, by({ by: 'limit', price: 10, increase: 1 })];

/** What a check finds wrong in any verdict. */
function wrong(
  endings: readonly Ending[],
  isWrong: (verdict: Verdict, state: JudgedState, ending: Ending) => boolean,
): unknown[] {
  return [...mixtures()].flatMap((state) =>
    endings.flatMap((ending) =>
      everyFact.flatMap((facts) => {
        const verdict = verdictOf(state, ending, facts);
        return isWrong(verdict, state, ending) ? [{ counts: state.counts, ending, facts, verdict }] : [];
      }),
    ),
  );
}

describe('of every mixture of outcomes, ending and report', () => {
  it('[cli.md What is counted] the sentence has every recipient once', () => {
    const figures = /\d+ (?:accepted|sent|not final|rejected|failed|moved|not sent|in doubt|unknown)/g;
    const sumOf = (text: string) =>
      (text.match(figures) ?? []).reduce((sum, figure) => sum + Number.parseInt(figure, 10), 0);
    expect(wrong(everyEnding, ({ sentence }, { counts }) => sumOf(sentence) !== counts.planned)).toEqual([]);
  });

  it('0 means that everybody was accepted, and with --wait sent', () => {
    const isLie = ({ exit }: Verdict, { counts }: JudgedState, { waited }: Ending) => {
      const { unknown, failed, rejected, in_doubt, pending } = counts;
      const open = unknown + failed + rejected + in_doubt + pending;
      return exit === 0 && (open > 0 || (waited !== null && !waited.final));
    };
    expect(wrong(everyEnding, isLie)).toEqual([]);
  });

  it('doubt is 6, except after an error of this machine or an internal one', () => {
    const isHidden = ({ exit }: Verdict, { counts }: JudgedState, { stopped }: Ending) =>
      counts.in_doubt > 0 && exit !== 6 && stopped?.by !== 'disk' && stopped?.by !== 'fault';
    expect(wrong(everyEnding, isHidden)).toEqual([]);
  });

  it('[cli.md Once all of a job was accepted] the exit is 0, 3, 6, 9, 13 or 14', () => {
    const isOther = ({ exit }: Verdict, { counts }: JudgedState) => {
      const { rejected, moved, in_doubt, pending } = counts;
      const isAccepted = rejected + moved + in_doubt + pending === 0;
      return isAccepted && ![0, 3, 6, 9, 13, 14].includes(exit);
    };
    expect(wrong(afterAll, isOther)).toEqual([]);
  });

  it('[cli.md 4, 5, 7 and 12] promise that the job stopped before its end, and 8 that, or that nothing was sent', () => {
    const isLie = ({ exit }: Verdict, { counts }: JudgedState) =>
      counts.pending === 0 && ([4, 5, 7, 12].includes(exit) || (exit === 8 && counts.accepted > 0));
    expect(wrong(afterAll, isLie)).toEqual([]);
  });

  it('no sentence knows every outcome while one is open', () => {
    const isLie = ({ sentence }: Verdict, { counts, final }: JudgedState) =>
      sentence.includes('Every outcome') && (!final || counts.unknown + counts.in_doubt + counts.pending > 0);
    expect(wrong(everyEnding, isLie)).toEqual([]);
  });

  it('what is in doubt can be retried, unless the job has finished or its key is refused', () => {
    const isWrong = ({ exit, retryable }: Verdict, { finished }: JudgedState, { stopped }: Ending) => {
      const isRefused = stopped?.by === 'service' && stopped.code === 'unauthorized';
      return (retryable === false) !== (exit === 6 && (finished || isRefused));
    };
    expect(wrong(everyEnding, isWrong)).toEqual([]);
  });
});
