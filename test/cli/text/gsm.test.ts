import { describe, expect, it } from 'vitest';
import { toGsm, whyCyrillic } from '../../../src/cli/text/gsm.js';
import { measureText } from '../../../src/contract/index.js';
import { run } from '../../support/run.js';

const way = '; --gsm replaces quotes, dashes and blanks';

describe('a Latin text with characters outside the GSM alphabet', () => {
  it.each<[string, string | null]>([
    [`Your order\u2019s ready`, `U+2019 "\u2019" at 11 ("'" in GSM): the text is Cyrillic${way}`],
    [
      `${'x'.repeat(100)}\u00a0y`,
      `U+00A0 at 101 (a space in GSM): the text is Cyrillic, 2 parts in place of 1${way}`,
    ],
    ['a\tb\u200bc', `U+0009 at 2 (a space in GSM), U+200B at 4 (nothing in GSM): the text is Cyrillic${way}`],
    ['Vitamin С is good', 'U+0421 "С" at 9 (Latin C?): the text is Cyrillic'],
    ['Hi 😀 a', 'U+1F600 "😀" at 4: the text is Cyrillic'],
    [
      '😀 “ok” – it',
      'U+1F600 "😀" at 1, U+201C "“" at 3 (""" in GSM), U+201D "”" at 6 (""" in GSM) and 1 more: the text is Cyrillic',
    ],
    [
      'Your code, Бат: 1234',
      'U+0411 "Б" at 12, U+0430 "а" at 13 (Latin a?), U+0442 "т" at 14: the text is Cyrillic',
    ],
    ['Plain @ text {€}', null],
    ['Таны код 123456 байна', null],
    ['Таны “захиалга” – бэлэн', null],
  ])('is explained: %j', (text, expected) => expect(whyCyrillic(text)).toBe(expected));

  it('is Latin once quotes, dashes and blanks are replaced', () => {
    const text = '‘a’ ‚b‛ “c” „d‟ «e» `f´ 1′ 2″ ‐‑‒–—―− …\t\u00a0\u2009\u202f\u3000\u200b\ufeff\u2028x';
    const replaced = toGsm(text);
    expect(replaced).toBe(`'a' 'b' "c" "d" "e" 'f' 1' 2" ------- ...     \nx`);
    expect(measureText(replaced).kind).toBe('latin');
    expect(toGsm('Сайн С 😀')).toBe('Сайн С 😀');
  });

  it.each([
    ["sms send 99112233 'It\u2019s on' --dry-run", 'Not GSM: U+2019 "\u2019" at 3'],
    ["pricing --text 'It\u2019s on'", 'Not GSM: U+2019 "\u2019" at 3'],
    ["sms send 99112233 'It\u2019s on' --gsm", `Replaced (--gsm): U+2019 "\u2019" at 3 by "'"`],
  ])('is named by %s', async (line, note) => {
    const { code, stderr } = await run(`${line} --sandbox`);
    expect([code, stderr]).toEqual([0, expect.stringContaining(note)]);
  });
});
