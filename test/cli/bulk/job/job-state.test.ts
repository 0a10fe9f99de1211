import { describe, expect, it } from 'vitest';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import { NewerJournalError, readEntries } from '../../../../src/cli/bulk/job/journal-reader.js';
import { movedEntry } from '../../../../src/cli/bulk/job/moved-rows.js';
import type { PlannedRequest } from '../../../../src/cli/bulk/plan/plan.js';
import { checksummed, decoded, type Encoded } from '../journal-lines.js';
import { memoryPlan, numbers } from '../memory-plan.js';
import { collect } from '../plan-in.js';

const plan = memoryPlan([
  { to: numbers(3), text: 'to all' },
  { to: numbers(1, 10), text: 'to one' },
  { to: numbers(1, 11), text: 'to another' },
]);
const none = { rejected: 0, failed: 0, in_doubt: 0, pending: 0 };

function stateOf(...entries: Encoded[]): JobState {
  const state = new JobState(plan.meta);
  for (const entry of entries) state.apply(decoded(entry));
  return state;
}

describe('rows that went to another job', () => {
  const request = async (number: number) => (await collect(plan.requests(number)))[0] as PlannedRequest;

  it.each<[string, Encoded[], number, number[], object, string]>([
    ['that were never sent, some', [], 0, [0, 2], { rejected: 2, pending: 3 }, 'pending'],
    ['that were never sent, all', [], 0, [0, 1, 2], { rejected: 3, pending: 2 }, 'rejected'],
    [
      'that were refused for the moment',
      [
        ['send', 0, 0, 3],
        ['refused', 0, 0, 'insufficient_credits', 0],
      ],
      0,
      [1],
      { rejected: 1, pending: 4 },
      'pending',
    ],
    [
      'of which some had been taken out',
      [
        ['send', 0, 0, 3],
        ['removed', 0, 0, [1]],
      ],
      0,
      [0, 1],
      { rejected: 2, pending: 3 },
      'pending',
    ],
    [
      'that had failed',
      [
        ['send', 1, 0, 1],
        ['failed', 1, 0, 'provider_failed', 'm'],
      ],
      1,
      [0],
      { rejected: 1, pending: 4 },
      'rejected',
    ],
  ])('%s, count as rejected and are never sent again', async (_, before, number, indexes, tally, phase) => {
    const state = stateOf(...before);
    const entry = movedEntry(await request(number), state, indexes);
    if (entry === null) throw new Error('nothing was moved');
    state.apply(entry);
    expect(state.tally).toEqual({ ...none, planned: 5, accepted: 0, ...tally });
    expect(state.phase(number)).toBe(phase);
    // A body that has changed never meets the key of the one before.
    if (phase === 'pending') expect(state.revision(number)).toBeGreaterThan(0);
    expect(movedEntry(await request(number), state, indexes)).toBeNull();
  });

  it('are never those in doubt, and nothing is said of those accepted', async () => {
    const doubt = stateOf(['send', 0, 0, 3]);
    await expect(async () => movedEntry(await request(0), doubt, [1])).rejects.toThrow('in doubt');
    const accepted = stateOf(['send', 0, 0, 3], ['accepted', 0, 0, 'b', 30, 'batch']);
    expect(movedEntry(await request(0), accepted, [1])).toBeNull();
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
    expect(state.tally).toEqual({ ...none, planned: 5, accepted: 1, in_doubt: 3, pending: 1 });
    expect([state.sent, state.final]).toEqual([1, true]);
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
