import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdColumn, WordColumn } from '../../../../src/cli/bulk/job/columns.js';

const zeros = '00000000-0000-0000-0000-000000000000';
const odd = fc.constantFrom(
  ...['', zeros, zeros.replace('-', '0'), 'batch-1', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ...[
    '0190B5A0-0000-7ABC-8DEF-000000000000',
    '0190b5a0-0000-7abc-8def-00000000000\u0131',
    'g190b5a0-0000-7abc-8def-000000000000',
  ],
);

describe('a column of ids', () => {
  it('has the id that was last set in each row, whatever its form', () => {
    const sets = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.oneof(fc.uuid(), odd, fc.string())));
    fc.assert(
      fc.property(sets, (all) => {
        const column = new IdColumn(4);
        const expected = ['', '', '', ''];
        for (const [row, id] of all) {
          column.set(row, id);
          expected[row] = id;
        }
        expect(expected.map((_, row) => column.get(row))).toEqual(expected);
      }),
    );
  });
});

describe('a column of words', () => {
  it('has the word that was last set in each row', () => {
    const column = new WordColumn(3);
    for (const [row, word] of [
      [0, 'a'],
      [1, 'b'],
      [2, 'a'],
      [0, ''],
    ] as const)
      column.set(row, word);
    expect([0, 1, 2].map((row) => column.get(row))).toEqual(['', 'b', 'a']);
  });

  it('drops words beyond its limit, where a service invents one for each row', () => {
    const column = new WordColumn(70_000);
    for (let row = 0; row < 70_000; row += 1) column.set(row, `word ${row}`);
    expect([0, 65_534, 65_535, 69_999].map((row) => column.get(row))).toEqual([
      'word 0',
      'word 65534',
      '',
      '',
    ]);
  });
});
