import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Counts, countsOf, outcomes } from '../../../../src/cli/bulk/job/counts.js';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import type { Entry } from '../../../../src/cli/bulk/job/journal/entries.js';
import { NewerJournalError, readEntries } from '../../../../src/cli/bulk/job/journal/journal-reader.js';
import { countsWith } from '../counts.js';
import { checksummed, decoded, type Encoded } from '../journal-lines.js';
import { memoryPlan, numbers } from '../memory-plan.js';

const plan = memoryPlan([
  { to: numbers(3), text: 'to all' },
  { to: numbers(1, 10), text: 'to one' },
  { to: numbers(1, 11), text: 'to another' },
]);
function stateOf(...entries: Encoded[]): JobState {
  const state = new JobState(plan.meta);
  for (const entry of entries) state.apply(decoded(entry));
  return state;
}

describe('rows that went to another job', () => {
  const accepted: Encoded[] = [
    ['send', 0, 0, 3],
    ['accepted', 0, 0, 'b', 30, 'batch'],
  ];

  it.each<[string, Encoded[], number, number[], object, string]>([
    [
      'that had failed',
      [
        ['send', 1, 0, 1],
        ['failed', 1, 0, 'provider_failed', 'm'],
      ],
      1,
      [0],
      { moved: 1, pending: 4 },
      'rejected',
    ],
    [
      'that were rejected',
      [
        ['send', 1, 0, 1],
        ['rejected', 1, 0, 'unsupported_number'],
      ],
      1,
      [0],
      { moved: 1, pending: 4 },
      'rejected',
    ],
    [
      'that were taken out of their batch',
      [
        ['send', 0, 0, 3],
        ['removed', 0, 0, [1]],
        ['send', 0, 1, 2],
        ['accepted', 0, 1, 'b', 20, 'batch'],
      ],
      0,
      [1],
      { queued: 2, moved: 1, pending: 2 },
      'accepted',
    ],
    [
      'that failed in their batch',
      [...accepted, ['final', 0, 1, 2, null, 1]],
      0,
      [0, 2],
      { unknown: 1, moved: 2, pending: 2 },
      'accepted',
    ],
    [
      'that failed in a batch whose figures nobody has read',
      accepted,
      0,
      [2],
      { queued: 2, moved: 1, pending: 2 },
      'accepted',
    ],
  ])('%s, are moved, and never sent again', (_, before, request, indexes, counts, phase) => {
    const state = stateOf(...before);
    const standings = () => indexes.map((index) => state.standingOf({ request, index }, 'failed'));
    expect(standings()).toEqual(indexes.map(() => 'unsent'));
    state.moveAway(request, indexes, 'july-retry');
    expect(state.counts).toEqual(countsWith(counts));
    expect([state.phase(request), state.isOpen(request)]).toEqual([phase, false]);
    expect(state.movedTo).toEqual(['july-retry']);
    expect(standings()).toEqual(indexes.map(() => ({ to: 'july-retry' })));
  });

  it('and whose batch is read later, are not in its figures', () => {
    const state = stateOf(...accepted, ['moved', 0, 0, [2], 3, 'july-retry'], ['final', 0, 2, 1, null, 1]);
    expect(state.counts).toEqual(countsWith({ sent: 1, unknown: 1, moved: 1, pending: 2 }));
    expect(state.bodySize(0)).toBe(3);
  });

  const send: Encoded = ['send', 1, 0, 1];
  const single: Encoded = ['accepted', 1, 0, 'm', 10, 'single'];
  const failure: Encoded = ['failed', 1, 0, 'provider_failed', 'm'];
  const retried: Encoded[] = [send, failure, ['revised', 1, 0], ['send', 1, 1, 1]];
  it.each<[reported: string, now: string, Encoded[], request: number, standing: string]>([
    ['pending', 'pending', [], 1, 'open'],
    ['pending', 'in doubt', [send], 1, 'open'],
    ['pending', 'accepted', [send, single], 1, 'sent'],
    ['pending', 'failed', [send, failure], 1, 'unsent'],
    ['pending', 'rejected', [send, ['rejected', 1, 0, 'x']], 1, 'unsent'],
    ['pending', 'suppressed', [send, ['rejected', 1, 0, 'recipient_suppressed']], 1, 'suppressed'],
    ['failed', 'failed', [send, failure], 1, 'unsent'],
    ['failed', 'tried again', retried, 1, 'open'],
    ['failed', 'an alarm', [send, ['alarm', 1, 0, 'x']], 1, 'open'],
    ['failed', 'accepted as a single SMS', [send, single], 1, 'sent'],
    ['failed', 'accepted as a retry', [...retried, ['accepted', 1, 1, 'm', 10, 'single']], 1, 'sent'],
    ['failed', 'accepted in a batch', accepted, 0, 'unsent'],
    ['rejected', 'accepted in a batch', accepted, 0, 'sent'],
  ])('that a report calls %s, and that are %s, are %s', (reported, _, before, request, standing) => {
    expect(stateOf(...before).standingOf({ request, index: 0 }, reported)).toBe(standing);
  });

  it('and were accepted as emails, may have failed since', () => {
    const state = new JobState({ ...plan.meta, channel: 'email' });
    for (const entry of [send, single]) state.apply(decoded(entry));
    expect(state.standingOf({ request: 1, index: 0 }, 'failed')).toBe('unsent');
  });

  it.each<[string, Encoded[], Encoded, object, string]>([
    ['some', [], ['moved', 0, 0, [0, 2], 3], { moved: 2, pending: 3 }, 'pending'],
    ['all', [], ['moved', 0, 0, [0, 1, 2], 3], { moved: 3, pending: 2 }, 'rejected'],
    [
      'some of which had been taken out',
      [
        ['send', 0, 0, 3],
        ['removed', 0, 0, [1]],
      ],
      ['moved', 0, 1, [0], 2],
      { rejected: 1, moved: 1, pending: 3 },
      'pending',
    ],
  ])('and were never sent, as earlier releases allowed: %s', (_, before, moved, counts, phase) => {
    const state = stateOf(...before, moved);
    expect(state.counts).toEqual(countsWith(counts));
    expect([state.phase(0), state.movedTo]).toEqual([phase, []]);
    // A body that has changed never meets the key of the one before.
    if (phase === 'pending') expect(state.revision(0)).toBeGreaterThan(0);
  });
});

/** A journal with any entries in any order, also as no job writes them: only the members of a request are right. */
const journals = fc
  .array(
    fc.record({
      request: fc.integer({ min: 0, max: 2 }),
      step: fc.constantFrom(
        // The way of most requests, and what may happen to one on it.
        ...(['send', 'send', 'accepted', 'accepted', 'accepted', 'progress', 'progress', 'final'] as const),
        ...(['final', 'refused', 'absent', 'unsure', 'alarm', 'removed', 'revised', 'rejected'] as const),
        ...(['failed', 'moved'] as const),
      ),
      index: fc.integer({ min: 0, max: 2 }),
      sent: fc.integer({ min: -1, max: 5 }),
      failed: fc.integer({ min: 0, max: 4 }),
      unknown: fc.option(fc.integer({ min: 0, max: 4 })),
      suppressed: fc.option(fc.integer({ min: 0, max: 4 })),
    }),
    { minLength: 20, maxLength: 60, size: 'max' },
  )
  .map((steps) => {
    const state = new JobState(plan.meta);
    return steps.map(({ step, request, index, ...figures }) => {
      const size = request === 0 ? 3 : 1;
      const left = size - state.removed(request).size;
      const at = { request, revision: state.revision(request), indexes: [index % size] };
      const code = index === 2 ? 'recipient_suppressed' : 'rate_limited';
      const job = index === 1 ? null : 'more';
      const kind = size === 1 ? ('single' as const) : ('batch' as const);
      const entry: Entry = {
        send: { type: 'send' as const, ...at, recipients: left },
        accepted: {
          ...{ type: 'accepted' as const, ...at, id: `m${request}`, credits: 10, kind, replayOf: null },
          acceptedAt: null,
        },
        progress: { type: 'progress' as const, request, ...figures },
        final: { type: 'final' as const, request, code: null, ...figures },
        refused: { type: 'refused' as const, ...at, code, unanswered: index === 0 ? null : (0 as const) },
        absent: { type: 'absent' as const, ...at },
        unsure: { type: 'unsure' as const, ...at, recipients: index },
        alarm: { type: 'alarm' as const, ...at, reason: 'x' },
        removed: { type: 'removed' as const, ...at },
        revised: { type: 'revised' as const, ...at },
        rejected: { type: 'rejected' as const, ...at, code },
        failed: { type: 'failed' as const, ...at, code, id: null },
        moved: { type: 'moved' as const, ...at, recipients: left, job },
      }[step];
      state.apply(entry);
      return entry;
    });
  });

describe('the counts of a job', () => {
  const sentBatch: Encoded[] = [
    ['send', 0, 0, 3],
    ['accepted', 0, 0, 'b', 30, 'batch'],
  ];
  const whole = ({ planned, accepted, ...figures }: Counts) => {
    expect(Object.values(figures).reduce((sum, figure) => sum + figure)).toBe(planned);
    expect(accepted).toBe(figures.sent + figures.unknown + figures.queued);
    expect(Math.min(...Object.values(figures))).toBeGreaterThanOrEqual(0);
  };

  it.each(['sms', 'email'] as const)(
    'add up to planned after every entry of any journal, in the record and on the screen: %s',
    (channel) => {
      const reached = new Set<string>();
      fc.assert(
        fc.property(journals, (entries) => {
          const state = new JobState({ ...plan.meta, channel, rejected: 2 });
          for (const entry of entries) {
            state.apply(entry);
            whole(state.counts);
            whole(countsOf(state, state.unanswered));
            expect([...Array(plan.meta.requests).keys()].filter((each) => state.isOpen(each))).toHaveLength(
              state.open,
            );
            for (const name of outcomes) if (state.counts[name] > 0) reached.add(name);
          }
        }),
        { numRuns: 300 },
      );
      expect([...reached].sort()).toEqual([...outcomes].sort());
    },
  );

  it('have those unknown apart from those sent, and the newest figures count', () => {
    const state = stateOf(['send', 0, 0, 3], ['accepted', 0, 0, 'b', 30, 'batch'], ['progress', 0, 2, 0, 1]);
    expect(state.counts).toEqual(countsWith({ sent: 1, unknown: 1, queued: 1, pending: 2 }));
    expect([state.final, state.knowsUnknown]).toEqual([false, false]);
    state.apply(decoded(['final', 0, 3, 0, null, 2]));
    expect(state.counts).toEqual(countsWith({ sent: 1, unknown: 2, pending: 2 }));
    expect([state.final, state.knowsUnknown]).toEqual([true, true]);
    state.apply(decoded(['final', 0, 3, 0, null, 0]));
    state.apply(decoded(['progress', 0, 1, 0, 1]));
    expect(state.counts).toEqual(countsWith({ sent: 3, pending: 2 }));
  });

  it.each<[string, Encoded[], object]>([
    ['a batch', [...sentBatch, ['final', 0, 1, 2, null, 0, 2]], { sent: 1, suppressed: 2, pending: 2 }],
    [
      'a batch, and one failed',
      [...sentBatch, ['final', 0, 1, 2, null, null, 1]],
      { sent: 1, failed: 1, suppressed: 1, pending: 2 },
    ],
    [
      'a single send',
      [
        ['send', 1, 0, 1],
        ['rejected', 1, 0, 'recipient_suppressed'],
      ],
      { suppressed: 1, pending: 4 },
    ],
    [
      'an email after it was accepted',
      [
        ['send', 1, 0, 1],
        ['accepted', 1, 0, 'm', 2, 'single'],
        ['final', 1, 0, 1, 'recipient_suppressed', 0],
      ],
      { suppressed: 1, pending: 4 },
    ],
  ])('have those on the do-not-send list apart from those failed or rejected: %s', (_, entries, counts) => {
    expect(stateOf(...entries).counts).toEqual(countsWith(counts));
  });

  it('of a service that does not say it, and in journals of earlier releases, have none unknown', () => {
    const state = stateOf(['send', 0, 0, 3], ['accepted', 0, 0, 'b', 30, 'batch'], ['final', 0, 3, 0, null]);
    expect(state.counts).toEqual(countsWith({ sent: 3, pending: 2 }));
    expect([state.final, state.knowsUnknown]).toEqual([true, false]);
  });
});

describe('a job whose acceptances repeat earlier ones', () => {
  const sent = (request: number, recipients: number): Encoded => ['send', request, 0, recipients];
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

  it('ran elsewhere when all of them do; the earliest says when', () => {
    const state = stateOf(
      sent(0, 3),
      ['accepted', 0, 0, 'b', 30, 'batch', at(2)],
      sent(1, 1),
      ['accepted', 1, 0, 'm', 10, 'single', at(1)],
      sent(2, 1),
      ['accepted', 2, 0, 'n', 10, 'single', ''],
    );
    expect([state.ranElsewhere, state.ranAt]).toEqual([true, at(1)]);
  });

  it('is an ordinary job when one does not, and when nothing was accepted', () => {
    const some = stateOf(sent(0, 3), ['accepted', 0, 0, 'b', 30, 'batch', at(2)], sent(1, 1), [
      'accepted',
      1,
      0,
      'm',
      10,
      'single',
    ]);
    expect([some.ranElsewhere, stateOf().ranElsewhere]).toEqual([false, false]);
    const disowned = stateOf(sent(0, 3), ['accepted', 0, 0, 'b', 30, 'batch', at(2)], ['alarm', 0, 0, 'x']);
    expect(disowned.ranElsewhere).toBe(false);
  });
});

describe('a batch that turned out to be another one', () => {
  it('stays in doubt whatever became of it, and the end of the others is still waited for', () => {
    const state = stateOf(
      ['send', 0, 0, 3],
      ['accepted', 0, 0, 'b', 30, 'batch'],
      ['alarm', 0, 0, 'for others'],
      ['final', 0, 1, 2, null],
      ['send', 1, 0, 1],
      ['accepted', 1, 0, 'm', 10, 'single'],
    );
    expect(state.counts).toEqual(countsWith({ sent: 1, in_doubt: 3, pending: 1 }));
    // The single SMS may be unknown.
    expect(state.final).toBe(false);
    state.apply(decoded(['final', 1, 1, 0, null, 0]));
    expect(state.final).toBe(true);
    state.apply(decoded(['accepted', 2, 0, 'c', 10, 'batch']));
    expect(state.final).toBe(false);
  });
});

describe('what the journal says of the whole job', () => {
  it('is the last limit, and every account', () => {
    const state = stateOf(['limit', 100], ['account', 'a'], ['limit', 200], ['account', 'b']);
    expect([state.limit, state.accounts]).toEqual([200, ['a', 'b']]);
    state.apply(decoded(['limit', null]));
    expect(state.limit).toBeNull();
  });

  it('is refused where a newer version has said what this one does not know', async () => {
    const bytes = checksummed([['job', 'a', 'd']]) + checksummed([['later', 1]]);
    const read = readEntries(
      (async function* () {
        yield Buffer.from(bytes);
      })(),
      'journal',
      () => {},
    );
    await expect(read).rejects.toThrow(NewerJournalError);
    await expect(read).rejects.toThrow("journal:2: a newer version of urtuu wrote 'later' here");
  });
});
