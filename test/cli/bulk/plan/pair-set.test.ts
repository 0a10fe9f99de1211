import { describe, expect, it } from 'vitest';
import { marks, messageHash, PairSet } from '../../../../src/cli/bulk/plan/pair-set.js';
import { RowSet } from '../../../../src/cli/bulk/plan/row-set.js';
import { seededRandom } from '../../../support/random.js';

const hello = messageHash('"text":"Hello"}');
const hi = messageHash('"text":"Hi"}');

/** A set of so many pairs, numbered as their recipients are here, and the marks of one job for them. */
function pairsOf(count: number) {
  const pairs = new PairSet();
  const added = Array.from({ length: count }, (_, at) => String(99_000_000 + at));
  for (const each of added) pairs.add(each, hello);
  const numbers = added.toSorted((one, other) => pairs.find(one, hello) - pairs.find(other, hello));
  const merge = (job: string, ...given: number[]) => pairs.merge(job, Uint8Array.from(given), null);
  return { pairs, numbers, merge };
}

describe('the pairs of a new plan', () => {
  it('are found again, each once, and no others', () => {
    const random = seededRandom(7);
    const numbers = Array.from({ length: 60_000 }, () => String(Math.floor(random() * 1e8)).padStart(8, '0'));
    const pairs = new PairSet();
    const added = numbers.slice(0, 40_000);
    for (const each of [...added, ...added.slice(0, 9)]) pairs.add(each, hello);
    const ids = new Map(added.map((each) => [each, pairs.find(each, hello)]));
    expect([pairs.length, new Set(ids.values()).size, Math.min(...ids.values())]).toEqual([
      ids.size,
      ids.size,
      0,
    ]);
    for (const each of numbers) {
      expect(pairs.find(each, hello)).toBe(ids.get(each) ?? -1);
      expect(pairs.find(each, hi)).toBe(-1);
    }
    const [first = ''] = added;
    expect(pairs.find(`to ${first}!`, hello, 3, 11)).toBe(ids.get(first));
  });

  it('are those of an address in any letter case', () => {
    const pairs = new PairSet();
    expect([
      pairs.add('Bat@b.mn', hello),
      pairs.add('bat@b.mn', hello),
      pairs.find('"BAT@b.mn"', hello, 1, 9),
    ]).toEqual([0, 0, 0]);
    expect(pairs.find('bat+1@b.mn', hello)).toBe(-1);
  });

  it('are found in another reading, which is no pair of its own', () => {
    const pairs = new PairSet();
    const [first, second] = ['99112233', '88112233'];
    pairs.add(first, hello);
    pairs.addReading(pairs.add(second, hello), second, hi);
    // The other reading of one row is another row.
    pairs.addReading(0, second, hello);
    const [one, two] = [0, 1];
    expect([pairs.find(first, hello), pairs.find(second, hello)]).toEqual([one, two]);
    expect([pairs.find(second, hi), pairs.find(first, hi), pairs.length]).toEqual([two, -1, 2]);
    pairs.addReading(one, first, hi);
    expect([pairs.find(second, hi), pairs.find(first, hi)]).toEqual([two, one]);
  });

  it('are known as fixed, if one of their rows was', () => {
    const pairs = new PairSet();
    for (const [to, isFixed] of [
      ['99112233', false],
      ['88112233', true],
      ['99112233', true],
      ['95112233', false],
    ] as const)
      pairs.add(to, hello, isFixed);
    const fixed = (to: string) => pairs.fixed.has(pairs.find(to, hello));
    expect(['99112233', '88112233', '95112233'].map(fixed)).toEqual([true, true, false]);
  });
});

describe('what other jobs did for a pair', () => {
  it('counts as open before sent before free, whichever job is read first', () => {
    for (const order of [
      ['one', 'two'],
      ['two', 'one'],
    ]) {
      const { pairs, merge } = pairsOf(3);
      for (const job of order) {
        if (job === 'one') merge('one', marks.sent, marks.free, marks.free);
        else merge('two', marks.open, marks.sent, marks.free);
      }
      expect(pairs.counts()).toEqual({ sent: 1, uncertain: new Map(), open: new Map([['two', 1]]) });
      expect([0, 1, 2].map((pair) => pairs.sentBy(pair))).toEqual(['one', 'two', null]);
    }
  });

  it('is uncertain only if no other job is certain', () => {
    const { pairs, merge } = pairsOf(2);
    merge('july', marks.uncertain, marks.uncertain);
    merge('august', marks.sent, marks.free);
    expect(pairs.counts()).toEqual({ sent: 2, uncertain: new Map([['july', 1]]), open: new Map() });
    merge('july', marks.uncertain, marks.uncertain);
    expect(pairs.sentBy(0)).toBe('august');
  });

  it('stays sent by one job when the unfinished ones are read again', () => {
    const { pairs, merge } = pairsOf(1);
    merge('july', marks.sent);
    merge('august', marks.open);
    expect(pairs.counts().sent).toBe(0);
    pairs.forgetOpen();
    merge('august', marks.free);
    expect(pairs.counts()).toEqual({ sent: 1, uncertain: new Map(), open: new Map() });
  });

  it('no longer counts once the pair is skipped, which an open one is not', () => {
    const { pairs, numbers, merge } = pairsOf(3);
    merge('july', marks.sent, marks.sent, 0);
    merge('august', 0, marks.open, 0);
    expect(pairs.skipSent().sent).toBe(1);
    const skipped = [0, 1, 2].filter((added) => pairs.isSkipped(added));
    expect(skipped.map((added) => String(99_000_000 + added))).toEqual([numbers[0]]);
    merge('september', marks.open, 0, marks.sent);
    expect(pairs.counts()).toEqual({ sent: 1, uncertain: new Map(), open: new Map([['august', 1]]) });
  });

  it('counts of some pairs only for a job that a report has read', () => {
    const { pairs } = pairsOf(2);
    const fixed = new RowSet();
    fixed.add(1);
    pairs.merge('july', Uint8Array.of(marks.sent, marks.sent), fixed);
    expect([0, 1].map((pair) => pairs.sentBy(pair))).toEqual([null, 'july']);
  });
});
