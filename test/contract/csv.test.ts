import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvField, csvLine, guard, tsvLine, unguard } from '../../src/contract/csv.js';

describe('the one writer of CSV', () => {
  it.each([
    ['=1', "'=1"],
    ['+976', "'+976"],
    ['-1+1', "'-1+1"],
    ['@x', "'@x"],
    ['＝1', "'＝1"],
    ['\t=1', '"\'\t=1"'],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ["'=1", "''=1"],
    ['-5', '-5'],
    ['-12.5', '-12.5'],
    ["'-5", "''-5"],
    ['a;b', '"a;b"'],
    ['a|b', '"a|b"'],
    ['a\tb', '"a\tb"'],
    ['a "b", c', '"a ""b"", c"'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    [' a', '" a"'],
    ["it's", "it's"],
    ['Бат', 'Бат'],
    ['', ''],
  ])('writes %j as %s', (value, field) => expect(csvField(value)).toBe(field));

  it('begins no field that a spreadsheet runs, and gives every value back', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n\'"＝,;|5.a ') });
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (values) => {
        const [fields = []] = parse(csvLine(['x', ...values])) as string[][];
        for (const field of fields) expect(field).not.toMatch(/^(?!-\d+(?:\.\d+)?$)[=+\-@\t\r\n＝＋－＠]/);
        expect(fields.slice(1).map(unguard)).toEqual(values);
      }),
    );
  });

  it('writes tabs as it writes commas, with quotes around what has a tab, a line end or a quote', () => {
    const values = ['a, b; c', 'a\tb', 'a\nb', '"a" b', '=1+1', '-5', ' a', 'a\\nb'];
    const fields = ['a, b; c', '"a\tb"', '"a\nb"', '"""a"" b"', "'=1+1", '-5', '" a"', 'a\\nb'];
    expect(tsvLine(values)).toBe(`${fields.join('\t')}\n`);
    const hostile = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n\'"＝,;|5.a \\') });
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (some) => {
        const [read = []] = parse(tsvLine(['x', ...some]), { delimiter: '\t' }) as string[][];
        for (const field of read) expect(field).not.toMatch(/^(?!-\d+(?:\.\d+)?$)[=+\-@\t\r\n＝＋－＠]/);
        expect(read.slice(1).map(unguard)).toEqual(some);
      }),
    );
  });

  it('takes the guard off what earlier releases wrote', () => {
    for (const [written, value] of [
      ["'-5", '-5'],
      ["'+976", '+976'],
      ["''=x", "'=x"],
    ] as const)
      expect(unguard(written)).toBe(value);
    expect(guard(unguard("'-5"))).toBe('-5');
  });
});
