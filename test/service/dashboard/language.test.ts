import { expect, it } from 'vitest';
import { english } from '../../../src/service/dashboard/language/english.js';
import { fill, languageOf, languages } from '../../../src/service/dashboard/language/language.js';
import {
  clockTime,
  duration,
  grouped,
  percent,
  signed,
} from '../../../src/service/dashboard/parts/format.js';

const holes = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

it.each(languages)('$language has every text, with the same values in it', (strings) => {
  for (const [name, text] of Object.entries(english)) {
    const other = strings[name as keyof typeof english];
    expect(other.trim(), name).not.toBe('');
    expect([name, holes(other)]).toEqual([name, holes(text)]);
  }
});

it.each([
  [undefined, '', 'en'],
  [undefined, 'mn', 'mn'],
  [undefined, 'fr;q=1, MN-mn;q=0.9, en;q=0.8', 'mn'],
  [undefined, '*', 'en'],
  ['mn', 'en', 'mn'],
  ['de', 'mn', 'mn'],
])('a choice of %j and a browser of %j get %s', (chosen, accepted, code) => {
  expect(languageOf(chosen, accepted).code).toBe(code);
});

it('a value is put in once, as it is', () => {
  expect(fill('{a} of {b} {c}', { a: '{b}', b: '$&' })).toBe('{b} of $& ');
});

const now = Date.UTC(2026, 10, 20, 7);
it.each([
  [now, '15:00:00', '15:00:00'],
  // Ulaanbaatar is a day further.
  [Date.UTC(2026, 10, 19, 16), '00:00:00', '00:00:00'],
  [Date.UTC(2026, 10, 19, 15, 59), 'Nov 19, 23:59', '11-р сарын 19, 23:59'],
  [Date.UTC(2025, 11, 31, 23), 'Jan 1, 07:00', '1-р сарын 1, 07:00'],
  [Date.UTC(2025, 11, 31, 15), 'Dec 31 2025', '12-р сарын 31 2025'],
])('%i reads %s, and in Mongolian %s', (at, inEnglish, inMongolian) => {
  expect(languages.map((strings) => clockTime(at, now, strings))).toEqual([inEnglish, inMongolian]);
});

it.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [172_799_999, '47 h'],
  [172_800_000, '2 d'],
])('%i milliseconds are %s', (milliseconds, text) => {
  expect(duration(milliseconds, english)).toBe(text);
});

it('figures are grouped, signed and never rounded to nothing', () => {
  expect([0, 999, 1_000, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([5_000, -5_000].map(signed)).toEqual(['+5,000', '−5,000']);
  expect([percent(0, 9), percent(1, 100_000), percent(14, 1_000), percent(1, 2)]).toEqual([
    '0%',
    '<0.1%',
    '1.4%',
    '50%',
  ]);
});
