import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleanText, composed, trimmed } from '../../../src/cli/text/clean.js';

it.each([
  ['Бат ', 'Бат'],
  ['\u00a0Бат\u202f\u3000\t\n', 'Бат'],
  ['\ufeff\u200b\u202aБат\u202c\u200e', 'Бат'],
  ['Бат  Дорж', 'Бат  Дорж'],
  ['❤\ufe0f', '❤\ufe0f'],
  ['\u1820\u180e\u1821\u180e', '\u1820\u180e\u1821\u180e'],
  [' \u00a0 ', ''],
  ['', ''],
])('a value is trimmed: %j', (value, expected) => expect(trimmed(value)).toBe(expected));

it.each([
  ['a\r\nb\rc\n', 'a\nb\nc\n'],
  ['\u0438\u0306', 'й'],
  ['e\u0301 \u212b \u2126', 'é Å Ω'],
  ['It\u2019s \u2013 Сүх', 'It\u2019s \u2013 Сүх'],
])('a text has line feeds and composed letters: %j', (text, expected) =>
  expect(cleanText(text)).toBe(expected),
);

it('any text is composed as Unicode says', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => composed(text) === text.normalize('NFC')));
  for (let code = 0; code < 0x1_0000; code += 1) {
    const letter = String.fromCharCode(code);
    if (composed(letter) !== letter.normalize('NFC')) throw new Error(code.toString(16));
  }
});
