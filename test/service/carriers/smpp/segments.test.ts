import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureText } from '../../../../src/contract/index.js';
import { decodeGsm, decodeUcs2 } from '../../../../src/service/carriers/smpp/codec/alphabet.js';
import { tags } from '../../../../src/service/carriers/smpp/codec/commands.js';
import { segmentsBeyondParts, segmentsOf } from '../../../../src/service/carriers/smpp/segments.js';

const ways = ['udh', 'sar', 'payload'] as const;
type Way = (typeof ways)[number];

/** As a phone shows it. */
function readTogether(text: string, how: Way): string {
  return segmentsOf(text, { segments: how, alphabet: 'gsm' }, 0xabcd)
    .map(({ fields: { data_coding, esm_class, short_message }, options }) => {
      const bytes = options.get(tags.messagePayload) ?? short_message.subarray(esm_class === 0x40 ? 7 : 0);
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
    ['a'.repeat(304), 2],
    ['a'.repeat(305), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // A character of two codes stays whole.
    [`a${'€'.repeat(151)}a`, 3],
    ['я'.repeat(70), 1],
    ['я'.repeat(71), 2],
    ['я'.repeat(132), 2],
    ['я'.repeat(133), 3],
    ['😀'.repeat(67), 3],
    ['', 1],
  ])('of %j are %i', (text, count) => {
    for (const how of ['udh', 'sar'] as const)
      expect(segmentsOf(text, { segments: how, alphabet: 'gsm' }, 1)).toHaveLength(count);
    expect(segmentsOf(text, { segments: 'payload', alphabet: 'gsm' }, 1)).toHaveLength(1);
  });

  it('are never more than the parts that are charged', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), (text) => {
        fc.pre(text !== '' && measureText(text).parts <= 5);
        expect(segmentsOf(text, { segments: 'udh', alphabet: 'gsm' }, 1).length).toBeLessThanOrEqual(
          measureText(text).parts,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(ways)('by %s give the text back, and none is too long', (how) => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), (text) => {
        expect(readTogether(text, how)).toBe(text);
        for (const { fields } of segmentsOf(text, { segments: how, alphabet: 'gsm' }, 1)) {
          const octets = fields.data_coding === 8 ? 140 : 160;
          expect(fields.short_message.length).toBeLessThanOrEqual(octets);
        }
      }),
    );
  });

  it('by header have reference, total and number', () => {
    const [first, second] = segmentsOf('a'.repeat(200), { segments: 'udh', alphabet: 'gsm' }, 0xabcd);
    expect(first?.fields).toMatchObject({ esm_class: 0x40, data_coding: 0 });
    expect([...(first?.fields.short_message.subarray(0, 7) ?? [])]).toEqual([6, 8, 4, 0xab, 0xcd, 2, 1]);
    expect([...(second?.fields.short_message.subarray(0, 7) ?? [])]).toEqual([6, 8, 4, 0xab, 0xcd, 2, 2]);
  });

  it('by options have them there', () => {
    const [, second] = segmentsOf('a'.repeat(200), { segments: 'sar', alphabet: 'gsm' }, 0xabcd);
    expect(second?.fields.esm_class).toBe(0);
    expect([...(second?.options ?? [])]).toEqual([
      [tags.segmentReference, Buffer.from([0xab, 0xcd])],
      [tags.segmentTotal, Buffer.from([2])],
      [tags.segmentNumber, Buffer.from([2])],
    ]);
  });

  it.each([
    ['gsm', '@[]_$€', 0, '001b3c1b3e11021b65'],
    ['latin1', '@[]_$', 0, '405b5d5f24'],
    ['latin1', 'Ñé£', 0, 'd1e9a3'],
    ['latin1', '€', 8, '20ac'],
    // GSM 03.38 lacks it, so it would not arrive.
    ['latin1', 'á', 8, '00e1'],
    ['latin1', 'Δ', 8, '0394'],
    ['ascii', '@[]_$', 0, '405b5d5f24'],
    ['ascii', 'é', 8, '00e9'],
    ['ascii', '`', 8, '0060'],
    ['ucs2', '@', 8, '0040'],
    ['ucs2', 'Ө', 8, '04e8'],
  ] as const)('in the alphabet %s of %j', (alphabet, text, coding, hex) => {
    const [segment] = segmentsOf(text, { segments: 'udh', alphabet }, 1);
    expect(segment?.fields.data_coding).toBe(coding);
    expect(segment?.fields.short_message.toString('hex')).toBe(hex);
  });

  it.each([
    // Two places each once they are translated to GSM 03.38.
    ['latin1', '['.repeat(80), 1, 0],
    ['latin1', '['.repeat(81), 2, 0],
    ['latin1', `${'a'.repeat(149)}Δ`, 3, 2],
    ['ascii', `${'a'.repeat(149)}é`, 3, 2],
    ['ucs2', 'a'.repeat(70), 1, 0],
    ['ucs2', 'a'.repeat(150), 3, 2],
    ['ucs2', 'я'.repeat(132), 2, 0],
    ['gsm', 'a'.repeat(305), 3, 0],
  ] as const)('in the alphabet %s of %j are %i, %i beyond its parts', (alphabet, text, count, beyond) => {
    expect(segmentsOf(text, { segments: 'sar', alphabet }, 1)).toHaveLength(count);
    expect(segmentsBeyondParts(text, alphabet)).toBe(beyond);
  });
});
