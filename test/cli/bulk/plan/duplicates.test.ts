import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecipientIndex } from '../../../../src/cli/bulk/plan/recipient-index.js';
import { RowSet } from '../../../../src/cli/bulk/plan/row-set.js';

const uint32 = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 0xffff_ffff }));

describe('what is kept of repeated rows', () => {
  it('is an index that does what a Map does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(uint32, uint32), { maxLength: 3_000, size: 'max' }),
        fc.array(uint32),
        (sets, asked) => {
          const index = new RecipientIndex();
          const map = new Map<number, number>();
          for (const [recipient, value] of sets) {
            index.set(recipient, value);
            map.set(recipient, value);
          }
          expect(index.size).toBe(map.size);
          for (const each of [...map.keys(), ...asked]) expect(index.get(each)).toBe(map.get(each));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is a set that does what a Set does', () => {
    const rows = fc.array(fc.integer({ min: 0, max: 20_000 }));
    fc.assert(
      fc.property(rows, rows, (added, asked) => {
        const bits = new RowSet();
        const set = new Set(added);
        for (const row of added) bits.add(row);
        expect(bits.size).toBe(set.size);
        for (const row of [...added, ...asked]) expect(bits.has(row)).toBe(set.has(row));
      }),
    );
  });
});
