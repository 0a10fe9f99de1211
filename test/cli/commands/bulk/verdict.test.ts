import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Outcome, outcomes } from '../../../../src/cli/bulk/job/counts.js';
import { finishedExits } from '../../../../src/cli/bulk/job/other-jobs.js';
import type { Ending, StopReason } from '../../../../src/cli/bulk/send/ending.js';
import {
  type Facts,
  type JudgedState,
  judgeJob,
  notRun,
  type Verdict,
} from '../../../../src/cli/commands/bulk/verdict.js';
import { exitOfCode } from '../../../../src/cli/exit-codes.js';

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

type Row = [title: string, state: JudgedState, ending: Ending, verdict: Partial<Verdict>, facts?: Facts];

const limit = by({ by: 'limit', price: 10, increase: 1 });
const cancel = by({ by: 'cancel' });
const alarm = by({ by: 'alarm', reason: 'one batch for two requests' });
const disk = by({ by: 'disk', doing: 'write', error: full });
const fault = by({ by: 'fault', error: new Error('bug') });
/** Everything sent was answered, and some recipients are left. */
const half = job({ queued: 2, pending: 3 });
const capped = job({ queued: 2, pending: 1 }, { refused: 'recipient_rate_limited' });
const elsewhere = job({ queued: 5 }, { ranElsewhere: true });
const endless = job({ queued: 2, in_doubt: 1 }, { finished: true });
const finalDoubt = { exit: 6, retryable: false } as const;

describe('[cli.md Exit codes] a job ends with', () => {
  it.each<Row>([
    ['0: all accepted', job({ queued: 5 }), notRun, { exit: 0 }],
    ['0: all sent', job({ sent: 5 }), waited(true), { exit: 0 }],
    ['0: the rest moved to other jobs', job({ sent: 3, moved: 2 }), notRun, { exit: 0 }],
    ['0: the rest suppressed', job({ sent: 3, suppressed: 2 }), waited(true), { exit: 0 }],
    ['0: a row suppressed, another moved', job({ sent: 3, moved: 1, suppressed: 1 }), notRun, { exit: 0 }],
    ['3: some suppressed, and some failed', job({ sent: 3, failed: 1, suppressed: 2 }), notRun, { exit: 3 }],
    ['9: all suppressed', job({ suppressed: 5 }), notRun, { exit: 9, retryable: null }],
    ['9: all suppressed or failed', job({ failed: 1, suppressed: 4 }), notRun, { exit: 9 }],
    ['9: all suppressed or rejected', job({ rejected: 1, suppressed: 4 }), notRun, { exit: 9 }],
    ['1: an internal error before the end', half, fault, { exit: 1 }],
    ['3: some failed', job({ sent: 3, failed: 2 }), waited(true), { exit: 3 }],
    ['3: some rejected', job({ queued: 3, rejected: 2 }), notRun, { exit: 3 }],
    ['3: some unknown', job({ sent: 4, unknown: 1 }), waited(true), { exit: 3 }],
    ['3: rows left out', job({ sent: 5 }), notRun, { exit: 3 }, { leftOut: 2 }],
    ['4: an unknown key', half, service('unauthorized', 401), { exit: 4, code: 'unauthorized' }],
    ['4: a key that may not send', half, service('forbidden', 403), { exit: 4, code: 'forbidden' }],
    ['5: no connection', half, service('connection_error'), { exit: 5, cause: 'connection_error' }],
    ['5: rate limited', half, service('rate_limited', 429), { exit: 5, cause: 'rate_limited' }],
    ['5: recipients over their cap', capped, notRun, { exit: 5, cause: 'recipient_rate_limited' }],
    ['5: cancelled', half, cancel, { exit: 5 }],
    ['5: interrupted; the process dies by the signal', half, by({ by: 'signal' }), { exit: 5 }],
    ['6: no answer', job({ queued: 2, in_doubt: 3 }), service('timeout'), { exit: 6, cause: 'timeout' }],
    ['6: doubt before money', job({ in_doubt: 3, pending: 2 }), limit, { exit: 6 }],
    ['6: an alarm', job({ queued: 2, in_doubt: 1, pending: 2 }), alarm, { exit: 6 }],
    ['6: doubt of a finished job, for ever', endless, notRun, finalDoubt],
    [
      '6: doubt before a refused key, for as long as it is used',
      job({ in_doubt: 3, pending: 2 }),
      service('unauthorized', 401),
      { ...finalDoubt, cause: 'unauthorized' },
    ],
    ['7: out of credits', half, service('insufficient_credits', 402), { exit: 7 }],
    [
      '7: the same in an earlier run',
      { ...half, wasRefused: (code) => code === 'insufficient_credits' },
      notRun,
      { exit: 7 },
    ],
    ['7: at --max-credits', half, limit, { exit: 7, code: 'over_max_credits' }],
    ['8: all rejected', job({ rejected: 5 }), notRun, { exit: 8 }],
    ['8: all rejected or moved', job({ rejected: 2, moved: 3 }), notRun, { exit: 8 }],
    ['8: a refused body', job({ pending: 5 }), service('request_too_large', 413), { exit: 8 }],
    ['9: all failed', job({ failed: 5 }), waited(true), { exit: 9 }],
    ['9: all failed or moved', job({ failed: 2, moved: 3 }), waited(true), { exit: 9 }],
    ['11: it ran elsewhere', elsewhere, notRun, { exit: 11 }],
    ['0: the same with --if-finished ok', elsewhere, notRun, { exit: 0 }, { allowsReplays: true }],
    ['13: a full disk, even in doubt', job({ queued: 2, in_doubt: 3 }), disk, { exit: 13 }],
    ['13: no report', job({ sent: 5 }), notRun, { exit: 13 }, { reported: 'unwritten' }],
    ['14: --wait ran out of time', job({ sent: 3, queued: 2 }), waited(false), { exit: 14 }],
    [
      '14: a refused look after the acceptance',
      job({ queued: 5 }),
      waited(false, 'forbidden'),
      { exit: 14, code: 'forbidden' },
    ],
    [
      '14: an incomplete report',
      job({ sent: 4, failed: 1 }),
      notRun,
      { exit: 14 },
      { reported: 'incomplete' },
    ],
    ['14: an internal error after the end', job({ sent: 5 }), fault, { exit: 14, code: 'fault' }],
  ])('%s', (_, state, ending, verdict, facts = {}) => {
    const rest = { code: null, cause: null, retryable: null, sentence: expect.any(String) };
    expect(judgeJob(state, ending, facts)).toEqual({ ...rest, ...verdict });
  });
});

it.each<[sentence: string, state: JudgedState, ending: Ending]>([
  ['5 accepted. Nothing is in doubt.', job({ queued: 5 }), notRun],
  ['1,200 sent. Every outcome is known.', job({ sent: 1_200 }), waited(true)],
  // The service never says that an outcome is unknown.
  ['5 sent. Nothing is in doubt.', job({ sent: 5 }, { knowsUnknown: false }), waited(true)],
  ['3 sent, 2 not final yet. Nothing is in doubt.', job({ sent: 3, queued: 2 }), waited(false)],
  [
    '3 sent, 1 rejected, 2 failed and refunded, 2 moved to june and may. Every outcome is known.',
    job({ sent: 3, rejected: 1, failed: 2, moved: 2 }, { movedTo: ['june', 'may'] }),
    notRun,
  ],
  ['4 sent, 1 unknown: it may have arrived, and is not sent again.', job({ sent: 4, unknown: 1 }), notRun],
  [
    '19,982 sent, 18 unknown: they may have arrived, and are not sent again.',
    job({ sent: 19_982, unknown: 18 }),
    waited(true),
  ],
  ['Stopped: no answer. 2 accepted, 3 in doubt.', job({ queued: 2, in_doubt: 3 }), service('timeout')],
  ['Stopped: teapot. 2 accepted, 3 not sent yet. Nothing is in doubt.', half, service('teapot', 418)],
  [
    'Stopped: HTTP 308. 2 accepted, 3 not sent yet. Nothing is in doubt.',
    half,
    by({ by: 'service', code: 'unexpected_response', status: 308, detail: 'HTTP 308' }),
  ],
  ['Stopped at --max-credits. 2 accepted, 3 not sent yet. Nothing is in doubt.', half, limit],
  ['Cancelled. 2 accepted, 3 not sent yet. Nothing is in doubt.', half, cancel],
  ['Stopped. 2 accepted, 3 not sent yet. Nothing is in doubt.', half, by({ by: 'signal' })],
  ['Stopped: one batch for two requests. 2 accepted, 1 in doubt.', endless, alarm],
  ['Stopped by an internal error. 2 accepted, 3 not sent yet. Nothing is in doubt.', half, fault],
  [
    'Stopped: the journal could not be written (ENOSPC), so nothing more was sent. 2 accepted, 1 in doubt.',
    endless,
    disk,
  ],
  [
    'Stopped: a file of the job could not be read (no plan), so nothing more was sent. 2 accepted, 1 in doubt.',
    endless,
    by({ by: 'disk', doing: 'read', error: new Error('no plan') }),
  ],
  [
    'The outcome could not be read: forbidden. 5 accepted. Nothing is in doubt.',
    job({ queued: 5 }),
    waited(false, 'forbidden'),
  ],
  ['Some recipients are over their cap. 2 accepted, 1 not sent yet. Nothing is in doubt.', capped, notRun],
])('a job says: %s', (sentence, state, ending) => {
  expect(judgeJob(state, ending).sentence).toBe(sentence);
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
    expect(judgeJob(state, notRun, { ...before, ...facts })).toMatchObject({
      ...verdict,
      sentence: `The job july finished before${open}; nothing was sent this time.`,
    });
  });
});

describe('a look at a job ends', () => {
  it.each<[string, JudgedState, Facts['lastExit'], Ending, Partial<Verdict>]>([
    ['as its last run did, without its cause', capped, 4, notRun, { exit: 4, cause: null }],
    ['by what was sent, if its last run was killed', capped, null, notRun, { exit: 5, cause: null }],
    ['with 6, if a report has found doubt since', job({ in_doubt: 1 }), 0, notRun, { exit: 6 }],
    ['with 6, if a later run was killed in doubt', job({ in_doubt: 1, pending: 2 }), 7, notRun, { exit: 6 }],
    ['with 3, if a receipt has found a failure since', job({ sent: 4, failed: 1 }), 0, notRun, { exit: 3 }],
    [
      'with 0, if a refresh has read what its last run had waited for',
      job({ sent: 5 }),
      14,
      notRun,
      { exit: 0 },
    ],
    ['with 0, if another job took what had failed', job({ sent: 4, moved: 1 }), 3, notRun, { exit: 0 }],
    ['as its last run did, if that allowed replays', elsewhere, 0, notRun, { exit: 0 }],
    ['with 11 for a job that ran elsewhere', elsewhere, 11, notRun, { exit: 11 }],
    ['with 5 for a killed job that was cancelled', half, null, cancel, { exit: 5 }],
  ])('%s', (_, state, lastExit, ending, verdict) => {
    expect(judgeJob(state, ending, { lastExit })).toMatchObject(verdict);
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

const refusals = ['unauthorized', 'insufficient_credits', 'rate_limited', 'timeout', 'teapot'];
const afterAll: Ending[] = [
  ...[notRun, waited(true), waited(false), waited(false, 'forbidden')],
  ...refusals.map((code) => service(code)),
  ...[by({ by: 'signal' }), cancel, alarm, disk, fault],
];
const everyFact: Facts[] = [{}, { leftOut: 1 }, { reported: 'incomplete' }, { reported: 'unwritten' }];
const everyEnding = [...afterAll, limit];

/** What a check finds wrong in any verdict. */
function wrong(
  endings: readonly Ending[],
  isWrong: (verdict: Verdict, state: JudgedState, ending: Ending) => boolean,
): unknown[] {
  return [...mixtures()].flatMap((state) =>
    endings.flatMap((ending) =>
      everyFact.flatMap((facts) => {
        const verdict = judgeJob(state, ending, facts);
        return isWrong(verdict, state, ending) ? [{ counts: state.counts, ending, facts, verdict }] : [];
      }),
    ),
  );
}

describe('of every mixture of outcomes, ending and report', () => {
  it('[cli.md What is counted] the sentence has every recipient once', () => {
    const figures =
      /\d+ (?:accepted|sent|not final|rejected|failed|suppressed|moved|not sent|in doubt|unknown)/g;
    const sumOf = (text: string) =>
      (text.match(figures) ?? []).reduce((sum, figure) => sum + Number.parseInt(figure, 10), 0);
    expect(wrong(everyEnding, ({ sentence }, { counts }) => sumOf(sentence) !== counts.planned)).toEqual([]);
  });

  it('0 means that everybody was accepted, and with --wait sent', () => {
    const isLie = ({ exit }: Verdict, { counts }: JudgedState, { waited }: Ending) => {
      const { accepted, unknown, failed, suppressed, rejected, in_doubt, pending } = counts;
      const open = unknown + failed + rejected + in_doubt + pending;
      const isNobody = suppressed > 0 && accepted === 0;
      return exit === 0 && (isNobody || open > 0 || (waited !== null && !waited.final));
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

it('no run ends as a finished one that has left something to send', () => {
  const endings = [notRun, waited(true), waited(false), limit, cancel, alarm, disk, fault];
  const codes = fc.constantFrom(...Object.keys(exitOfCode), 'teapot');
  const ending = fc.oneof(
    fc.constantFrom(...endings, by({ by: 'signal' })),
    codes.map((code) => service(code)),
  );
  const counts = fc.record(Object.fromEntries(outcomes.map((name) => [name, fc.nat(2)])));
  fc.assert(
    fc.property(counts, ending, fc.boolean(), (given, ended, allowsReplays) => {
      const { exit } = judgeJob(job(given), ended, { allowsReplays });
      fc.pre(finishedExits.includes(exit));
      expect([given.pending, given.in_doubt]).toEqual([0, 0]);
    }),
  );
});
