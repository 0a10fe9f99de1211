import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashIndex, hashOfNumber } from '../../../../src/cli/bulk/plan/files/hash-index.js';
import { RowSet } from '../../../../src/cli/bulk/plan/row-set.js';

const uint32 = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 0xffff_ffff }));

describe('what is kept of repeated rows', () => {
  it('is an index of numbers that does what a Map does', () => {
    fc.assert(
      fc.property(fc.array(uint32, { maxLength: 3_000, size: 'max' }), fc.array(uint32), (added, asked) => {
        const index = new HashIndex();
        const map = new Map<number, number>();
        for (const each of added) {
          if (map.has(each)) continue;
          index.add(hashOfNumber(each), map.size);
          map.set(each, map.size);
        }
        for (const each of [...map.keys()].slice(0, 9)) {
          index.set(hashOfNumber(each), each % 7);
          map.set(each, each % 7);
        }
        for (const each of [...map.keys(), ...asked])
          expect(index.get(hashOfNumber(each))).toBe(map.get(each) ?? -1);
      }),
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
