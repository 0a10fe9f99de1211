import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxParts, measureText, priceOfSms } from '../../src/contract/index.js';

describe('POST /v1/sms rule 4: 5 parts are 750 Latin or 300 Cyrillic characters', () => {
  it.each([
    ['', 'latin', 0, 0],
    ['a', 'latin', 1, 1],
    ['a'.repeat(150), 'latin', 150, 1],
    ['a'.repeat(151), 'latin', 151, 2],
    ['a'.repeat(750), 'latin', 750, 5],
    ['a'.repeat(751), 'latin', 751, 6],
    ['ө', 'cyrillic', 1, 1],
    ['ү'.repeat(60), 'cyrillic', 60, 1],
    ['ү'.repeat(61), 'cyrillic', 61, 2],
    ['Ө'.repeat(300), 'cyrillic', 300, 5],
    ['Ө'.repeat(301), 'cyrillic', 301, 6],
    [`${'a'.repeat(59)}ө`, 'cyrillic', 60, 1],
    [`${'a'.repeat(60)}ө`, 'cyrillic', 61, 2],
    // Rule 3: an emoji counts as 2 characters, and one is enough to make a Latin text Cyrillic.
    ['😀', 'cyrillic', 2, 1],
    [`${'a'.repeat(58)}😀`, 'cyrillic', 60, 1],
    [`${'a'.repeat(59)}😀`, 'cyrillic', 61, 2],
    ['😀'.repeat(150), 'cyrillic', 300, 5],
    ['😀'.repeat(151), 'cyrillic', 302, 6],
    // The GSM 03.38 extension table takes two units a character.
    ['€', 'latin', 2, 1],
    ['[]{}\\^~|€\f', 'latin', 20, 1],
    ['€'.repeat(75), 'latin', 150, 1],
    ['€'.repeat(76), 'latin', 152, 2],
    ['€'.repeat(375), 'latin', 750, 5],
    ['ÅåÆæØøÉéÄÖÑÜäöñüàèìòùÇß£¥¤§¿¡ΔΦΓΛΩΠΨΣΘΞ\n\r', 'latin', 41, 1],
    ['ç', 'cyrillic', 1, 1],
    ['`', 'cyrillic', 1, 1],
    ['“', 'cyrillic', 1, 1],
    ['\t', 'cyrillic', 1, 1],
  ] as const)('%j', (text, kind, units, parts) => {
    expect(measureText(text)).toEqual({ kind, units, parts });
  });

  it('takes 5 parts at most', () => expect(maxParts).toBe(5));
});

describe('rule 2: price = parts x credits per part x holiday multiplier, rounded up', () => {
  it.each([
    [1, 10, 1, 10],
    [5, 10, 1, 50],
    [1, 10, 1.5, 15],
    [3, 10, 1.1, 33],
    [1, 1, 1.01, 2],
    [7, 0, 1.5, 0],
    [3, 10, 1.10000001, 34],
    [1, 10, 1e-9, 1],
    [5, 1_000_000, 100, 500_000_000],
    [5, 999_999, 1.0000001, 4_999_996],
    [3, 1, 0.1, 1],
    [5, 1, 0.2, 1],
    [4, 7, 1.25, 35],
    [3, 0.1, 10, 3],
    [1, 10, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [1, 10, -1, -10],
    [1, Number.NaN, 1, Number.NaN],
  ])('%d parts x %d x %d = %d', (parts, perPart, multiplier, credits) => {
    expect(priceOfSms(parts, perPart, multiplier)).toBe(credits);
  });

  it('prices with two decimals cost what whole numbers say, and no credit more', () => {
    const hundredths = (most: number) => fc.integer({ min: 1, max: most });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        hundredths(6_000),
        hundredths(300),
        (parts, price, times) => {
          const credits = Math.ceil((parts * price * times) / 10_000);
          expect(priceOfSms(parts, price / 100, times / 100)).toBe(credits);
        },
      ),
      {
        numRuns: 2_000,
        examples: [
          [5, 1_000, 110],
          [1, 5_000, 110],
          [2, 2_500, 220],
        ],
      },
    );
  });
});
