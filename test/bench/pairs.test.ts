import { describe, expect, it } from 'vitest';
import { inPairs, median, tableOf } from './pairs.js';

describe('inPairs', () => {
  it('measures in turn, leaves out the first pair, and takes ratios pair by pair', async () => {
    const order: string[] = [];
    // The machine becomes ten times slower on the way, for both.
    const slower = [999, 1, 1, 10, 10, 10];
    const side = (name: string, cost: number) => {
      let count = 0;
      return async () => {
        order.push(name);
        return cost * (slower[count++] ?? 0);
      };
    };
    const result = await inPairs(side('a', 3), side('b', 2), 5);
    expect(order.join('')).toBe('abababababab');
    expect(result).toEqual({ ratio: 1.5, a: 30, b: 20 });
  });
});

describe('median', () => {
  it.each([
    [[5], 5],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
  ])('of %j is %d', (values, middle) => expect(median(values)).toBe(middle));

  it('of nothing is an error', () => expect(() => median([])).toThrow(RangeError));
});

describe('tableOf', () => {
  it('lines up the columns and marks what was missed', () => {
    const row = { what: 'start', against: 'node', goal: '1.2', measured: '1.10' };
    expect(
      tableOf([
        { ...row, met: true },
        { ...row, what: 'go', measured: '1.30', met: false },
      ]),
    ).toBe(
      [
        '| what  | against | goal | measured |        |',
        '|-------|---------|------|----------|--------|',
        '| start | node    | 1.2  | 1.10     |        |',
        '| go    | node    | 1.2  | 1.30     | missed |',
        '',
      ].join('\n'),
    );
  });
});
