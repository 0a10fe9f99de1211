import { describe, expect, it } from 'vitest';
import { boundOf, builtPatterns, patternBounds } from './support/pattern-bounds.js';
import { nameOf, patternsOf, patternsOfSources, slowAttack } from './support/patterns.js';

/** Characters and milliseconds: what grows with the square of the characters takes longer. */
const size = 6_000;
const most = 4;

const { patterns, unknown } = await patternsOfSources();

describe('regular expressions of the sources', { timeout: 120_000 }, () => {
  it('that are slow on a long hostile text have a bound or a reason', () => {
    const slow = patterns
      .filter((pattern) => boundOf(pattern) === undefined)
      .flatMap((pattern) => {
        const attack = slowAttack(pattern, size, most);
        return attack === null ? [] : [[nameOf(pattern), attack]];
      });
    expect(slow).toEqual([]);
  });

  it.each(patternBounds)('with a bound or a reason are in the sources: $file $begins', (bound) => {
    expect(patterns.filter((pattern) => boundOf(pattern) === bound)).toHaveLength(1);
  });

  it('that are built when they run are listed', () => {
    expect(unknown).toEqual(builtPatterns);
  });
});

it.each([
  ['a literal', 'const end = /a+$/gm;', ['/a+$/gm']],
  ['a literal behind a division', 'const half = one / two; text.split(/ *, */);', ['/ *, */']],
  ['one of constants', "const digit = '[0-9]'; const all = new RegExp(digit + '+', 'g');", ['/[0-9]+/g']],
  ['one that calls RegExp', "const all = RegExp('a|b');", ['/a|b/']],
])('a regular expression is collected: %s', async (_, code, expected) => {
  expect((await patternsOf('x.ts', code)).patterns.map(nameOf)).toEqual(
    expected.map((each) => `x.ts ${each}`),
  );
});

it.each([
  ['"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"', 'g'],
  ['(a+)+$', ''],
  ['(?:a|a)*b', ''],
  ['^(?:\\w+\\s?)*$', ''],
  ['\\s+$', ''],
  ['<!--[\\s\\S]*?-->', 'g'],
  ['(?<![\\w-])\\+?\\d[\\d -]{4,}\\d(?![\\w-])', 'g'],
  ['[^@\\s]+@[^@\\s]+', 'u'],
])('a slow regular expression is noticed: %s', (source, flags) => {
  expect(slowAttack({ file: '', source, flags }, 20_000, most)).not.toBeNull();
});
