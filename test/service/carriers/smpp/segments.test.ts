import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureText } from '../../../../src/contract/index.js';
import { decodeGsm, decodeUcs2 } from '../../../../src/service/carriers/smpp/codec/alphabet.js';
import { tags } from '../../../../src/service/carriers/smpp/codec/commands.js';
import { segmentsOf } from '../../../../src/service/carriers/smpp/segments.js';

const ways = ['udh', 'sar', 'payload'] as const;
type Way = (typeof ways)[number];

/** As a phone shows it. */
function readTogether(text: string, how: Way): string {
  return segmentsOf(text, how, 0xabcd)
    .map(({ fields: { data_coding, esm_class, short_message }, options }) => {
      const bytes = options.get(tags.messagePayload) ?? short_message.subarray(esm_class === 0x40 ? 6 : 0);
      return data_coding === 8 ? decodeUcs2(bytes) : decodeGsm(bytes);
    })
    .join('');
}

const gsmText = fc.string({ unit: fc.constantFrom(...'abc @$€[]Ä\n'), maxLength: 400 });
const anyText = fc.string({ unit: fc.constantFrom(...'абвүөab€', '😀'), maxLength: 150 });

describe('segments', () => {
  it.each([
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(306), 2],
    ['a'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // 153 is odd: a character of two codes stays whole.
    ['€'.repeat(153), 3],
    ['я'.repeat(70), 1],
    ['я'.repeat(71), 2],
    ['я'.repeat(134), 2],
    ['😀'.repeat(67), 3],
    ['', 1],
  ])('of %j are %i', (text, count) => {
    for (const how of ['udh', 'sar'] as const) expect(segmentsOf(text, how, 1)).toHaveLength(count);
    expect(segmentsOf(text, 'payload', 1)).toHaveLength(1);
  });

  it('are never more than the parts that are charged', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), (text) => {
        fc.pre(text !== '' && measureText(text).parts <= 5);
        expect(segmentsOf(text, 'udh', 1).length).toBeLessThanOrEqual(measureText(text).parts);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(ways)('by %s give the text back, and none is too long', (how) => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), (text) => {
        expect(readTogether(text, how)).toBe(text);
        for (const { fields } of segmentsOf(text, how, 1)) {
          const octets = fields.data_coding === 8 ? 140 : 160;
          expect(fields.short_message.length).toBeLessThanOrEqual(octets);
        }
      }),
    );
  });

  it('by header have reference, total and number', () => {
    const [first, second] = segmentsOf('a'.repeat(200), 'udh', 0xabcd);
    expect(first?.fields).toMatchObject({ esm_class: 0x40, data_coding: 0 });
    expect([...(first?.fields.short_message.subarray(0, 6) ?? [])]).toEqual([5, 0, 3, 0xcd, 2, 1]);
    expect([...(second?.fields.short_message.subarray(0, 6) ?? [])]).toEqual([5, 0, 3, 0xcd, 2, 2]);
  });

  it('by options have them there', () => {
    const [, second] = segmentsOf('a'.repeat(200), 'sar', 0xabcd);
    expect(second?.fields.esm_class).toBe(0);
    expect([...(second?.options ?? [])]).toEqual([
      [tags.segmentReference, Buffer.from([0xab, 0xcd])],
      [tags.segmentTotal, Buffer.from([2])],
      [tags.segmentNumber, Buffer.from([2])],
    ]);
  });
});
