import { describe, expect, it } from 'vitest';
import { read } from './read.js';
import { workbook } from './write-workbook.js';

const full = [
  ['A1', 'B1', 'C1'],
  ['A2', 'B2', 'C2'],
  ['A3', 'B3', 'C3'],
  ['A4', 'B4', 'C4'],
];
const behind = (...refs: string[]) =>
  `<mergeCells>${refs.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`;

describe('rows with merged cells', () => {
  it.each<[title: string, refs: string[], hidden: string]>([
    ['in a column', ['A2:A3'], 'A3'],
    ['in a row', ['A2:C2'], 'B2 C2'],
    ['in a block', ['B2:C3'], 'C2 B3 C3'],
    ['from the last to the first', ['C3:B2'], 'C2 B3 C3'],
    ['with absolute references, in lower case', ['$b$2:$c$3'], 'C2 B3 C3'],
    ['in whole columns', ['A:A'], 'A2 A3 A4'],
    ['in whole rows', ['2:3'], 'B2 C2 A3 B3 C3'],
    ['beyond the last row and column of Excel', ['C3:XFE2000000'], 'C4'],
    ['below each other, in any order', ['A4:B4', 'A2:B2'], 'B2 B4'],
    ['over each other', ['A2:A4', 'A2:A3', 'A3:B3'], 'A3 B3 A4'],
    ['with the header', ['A1:A2', 'B1:B3'], 'A2 B2 B3'],
    ['in one cell', ['A2', 'A3:A3'], ''],
    ['outside the table', ['A9:C10', 'D1:F4'], ''],
  ])('have an error for each value hidden under cells merged %s', async (_, refs, hidden) => {
    for (const prefix of ['', 'x']) {
      const book = { sheets: [{ rows: full, rest: behind(...refs) }], ...(prefix === '' ? {} : { prefix }) };
      const { rows: found } = await read(workbook(book), { blockBytes: 100 });
      expect(found.map(({ record }) => record)).toEqual(full);
      const faults = found.flatMap(({ row, faults }) => faults.map((fault) => ({ row, ...fault })));
      expect(faults.map(({ letters, row }) => letters + row).join(' ')).toBe(hidden);
      for (const { letters, row, error } of faults)
        expect(error).toBe(`"${letters}${row}" is hidden under merged cells: unmerge them, or clear it`);
    }
  });

  it('have no column where merged cells hide the name', async () => {
    const reading = await read(
      workbook({ sheets: [{ rows: [['T', 'T', 'T'], ...full], rest: behind('A1:C1', 'A2:B2', 'A3:B3') }] }),
    );
    expect(reading.rows[0]?.record).toEqual(['T']);
    const below = await read(workbook({ sheets: [{ rows: full, rest: behind('A1:B1', 'A2:B2') }] }));
    expect(below.columns).toEqual([0, 2]);
    expect(below.rows.map(({ record, faults }) => [record.join(), faults.length])).toEqual([
      ['A1,C1', 0],
      ['A2,C2', 0],
      ['A3,C3,B3', 1],
      ['A4,C4,B4', 1],
    ]);
  });

  it.each(['A2:', ':', 'A2-A3:A4', '#REF!:A2', 'AAAA1:B2'])('merged as %s end the reading', async (ref) => {
    const reading = read(workbook({ sheets: [{ rows: full, rest: behind(ref) }] }));
    await expect(reading).rejects.toThrow(`merges cells ${ref}`);
  });
});
