import { describe, expect, it } from 'vitest';
import { exactDigits } from '../../../../../src/cli/bulk/input/workbook/cell-value.js';
import { columnLetters, columnOf } from '../../../../../src/cli/xlsx/cell-reference.js';
import { read, recordsOf } from './read.js';
import { type TestCell, type TestWorkbook, workbook } from './write-workbook.js';

/** The record of one cell below a header. */
async function shown(cell: TestCell, book: Omit<TestWorkbook, 'sheets'> = {}): Promise<string | undefined> {
  const [, record] = await recordsOf(workbook({ ...book, sheets: [{ rows: [['a'], [cell]] }] }));
  return record?.[0];
}

const styled = (value: string | number, style = 1): TestCell => ({ xml: `s="${style}"><v>${value}</v>` });

describe('the digits of a number', () => {
  it.each([
    ['99112233', '99112233'],
    ['9.9112233E7', '99112233'],
    ['9.9112233e+07', '99112233'],
    ['99112233.0', '99112233'],
    ['97699112233', '97699112233'],
    ['9.7699112233E+10', '97699112233'],
    ['1E3', '1000'],
    ['0', '0'],
    ['-0', '0'],
    ['-12.50', '-12.5'],
    ['+5', '5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1.5E-3', '0.0015'],
    ['19.899999999999999', '19.9'],
    ['0.30000000000000004', '0.3'],
    ['1234567.8899999999', '1234567.89'],
    ['99112233.000000001', '99112233'],
    ['9999999.9999999991', '10000000'],
    ['0.00001234567890123456789', '0.0000123456789012346'],
    ['9007199254740993', '9007199254740993'],
    ['1E+20', '100000000000000000000'],
    ['1E+300', '1e+300'],
    ['0012', '0012'],
  ])('%s are %s', (written, digits) => expect(exactDigits(written)).toBe(digits));

  it.each(['', '.', 'abc', '1e', '1,5', '0x10', 'NaN', 'Infinity', '1 2', '--1', '1E9999'])(
    '%j is none',
    (written) => expect(exactDigits(written)).toBeNull(),
  );
});

describe('a number is shown as the sheet shows it', () => {
  it.each<[string | number, string | number, string]>([
    ['00000000', 12345, '00012345'],
    ['0000-0000', '9.9112233E7', '9911-2233'],
    ['#,##0.00', 1.005, '1.01'],
    ['0.0000000', 1e-7, '0.0000001'],
    ['#,##0.00 "MNT"', '9.9112233E7', '99,112,233.00 MNT'],
    ['#,##0.00\\ [$₮-450]', 1234.5, '1,234.50 ₮'],
    ['#,##0.00\\ [$₽-419]', 1234.5, '1,234.50 ₽'],
    ['[$-419]0.0', 2.5, '2.5'],
    [0, 123456789012, '123456789012'],
    [0, '1.5E-3', '0.0015'],
    // Built in are those below 59.
    [67, '0.5', '0.5'],
    [180, '45000', '45000'],
    ['General" ш"', 123456789012, '123456789012 ш'],
    ['General" ш"', -2.5, '-2.5 ш'],
    ['@', '9.9112233E7', '99112233'],
    ['"№"@', 123456789012, '123456789012'],
    [1, 2.5, '3'],
    [2, 2, '2.00'],
    [3, 12345, '12,345'],
    [4, -12345, '-12,345.00'],
    [5, -1234.5, '-1,235'],
    [6, 1234.5, '1,235'],
    [7, 0, '0.00'],
    [8, 1234.5, '1,234.50'],
    [9, 0.15, '15%'],
    [10, 0.125, '12.50%'],
    [11, 99112233, '9.91E+07'],
    [12, 2.75, '2 3/4'],
    [13, 2.96, '2 24/25'],
    ['# ?/?', 0.3, '2/7'],
    ['# ?/?', -2.99, '-3'],
    ['0 ?/8"кг"', 0.25, '0 2/8кг'],
    ['?/?', 1.5, '3/2'],
    [38, -5, '(5)'],
    [41, 0, '-'],
    [43, -1234.5, '(1,234.50)'],
    [42, -1234.5, '-1,235'],
    [42, 0, '-'],
    [44, 1234.5, '1,234.50'],
    ['"$"#,##0', 1234.5, '$1,235'],
    ['# ?/?"кг (0/0)"', 1.5, '1 1/2кг (0/0)'],
    ['# "ц" ?/?', 1.5, '1 ц 1/2'],
    ['#"ц" ?/?', 0.5, 'ц 1/2'],
    ['#\\ц ?/?', 2, '2ц'],
    ['"№ 1/2: "# ?/?', 0.5, '№ 1/2: 1/2'],
    ['?/?" 0/0"', 1.5, '3/2 0/0'],
    [48, 123456, '123.5E+3'],
    [49, 5, '5'],
    [23, 5.5, '5.5'],
    ['0;-0;"байхгүй"', 0, 'байхгүй'],
    ['[Red][<0]"алдаа";[>=100]"их";0', -5, 'алдаа'],
    ['[Red][<0]-0.0;0.0', -5, '-5.0'],
    ['0_ "кг"', 5, '5 кг'],
    ['0.0,,"M"', 5_500_000, '5.5M'],
    ['0[', 5, '5'],
    ['[>5]0;[<-5]0', 1, '1'],
  ])('%s of %s is %s', async (format, value, text) => {
    expect(await shown(styled(value), { formats: [format] })).toBe(text);
  });

  it.each([
    [';;;', 5],
    ['0;0;', 0],
    ['#', 0],
  ])('%s of %s hides it', async (format, value) => {
    expect(await shown(styled(value), { formats: [format] })).toBe('');
  });

  it.each([
    ['"№ "@', '№ Бат'],
    ['0;0;0;"["@"]"', '[Бат]'],
    ['_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 'Бат'],
    ['0;@', 'Бат'],
    ['yyyy-mm-dd', 'Бат'],
    [';;;', ''],
    ['General;General;General;General" ₮"', 'Бат ₮'],
    ['General;-General;0;General', 'Бат'],
    ['0;0;0;"үг"', 'үг'],
    ['0;"№ "@', '№ Бат'],
  ])('%s of a text is %j', async (format, text) => {
    expect(await shown({ xml: 't="str" s="1"><v>Бат</v>' }, { formats: [format] })).toBe(text);
  });
});

describe('a date is shown as the sheet shows it', () => {
  it.each([
    ['yyyy-mm-dd', 45_000, '2023-03-15'],
    ['yyyy\\-mm\\-dd', 45_000, '2023-03-15'],
    ['yyyy.mm.dd', 45_000, '2023.03.15'],
    ['dd/mm/yyyy', 45_000, '15/03/2023'],
    ['m/d/yy', 45_000, '3/15/23'],
    ['[$-409]mmmm d, yyyy;@', 45_000, 'March 15, 2023'],
    ['[$-409]d-mmm-yy;@', 45_000, '15-Mar-23'],
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 45_000, '2023-03-15'],
    ['[$-x-sysdate]dddd, mmmm dd, yyyy', 45_000, '2023-03-15'],
    ['[$-F400]h:mm:ss\\ AM/PM', 0.75, '18:00:00'],
    ['[$-x-systime]h:mm:ss AM/PM', 0.75, '18:00:00'],
    ['yyyy"оны" m"-р сарын" d', 45_000, '2023оны 3-р сарын 15'],
    ['yyyy-mm-dd h:mm', 45_000.5, '2023-03-15 12:00'],
    ['yyyy-mm-dd hh:mm:ss', 45_000.604166666664, '2023-03-15 14:30:00'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['[$-450]yyyy" оны "mmmm d', 45_270, '2023 оны арван хоёрдугаар сар 10'],
    ['[$-FC19]d mmmm yyyy', 45_000, '15 марта 2023'],
    ['[$-419]mmmm yyyy', 45_000, 'Март 2023'],
    ['yyyy-mm-dd hh:mm', 45_000.999999, '2023-03-16 00:00'],
    ['yyyy-mm-dd', 45_000.999999, '2023-03-15'],
    ['[h]:mm', 1.5, '36:00'],
    ['[h]:mm', -1.25, '-30:00'],
    ['[h]:mm', -0.3, '-7:12'],
    ['[m]', 100.0625, '144090'],
    ['[s]', -1.25, '-108000'],
    ['mm:ss.0', 0.0005, '00:43.2'],
    ['h:mm', 0, '0:00'],
    ['mm:ss', 0, '00:00'],
    ['[h]:mm', 0, '0:00'],
    [14, 45_000, '2023-03-15'],
    [15, 45_000, '15-Mar-23'],
    [16, 45_000, '15-Mar'],
    [17, 45_000, 'Mar-23'],
    [18, 0.75, '6:00 PM'],
    [20, 0.75, '18:00'],
    [21, 0.75, '18:00:00'],
    [22, 45_000.75, '2023-03-15 18:00'],
    [46, 1.5, '36:00:00'],
    ['yyyy-mm-dd', 1, '1900-01-01'],
    ['yyyy-mm-dd', 61, '1900-03-01'],
    ['yyyy-mm-dd', '4.5E4', '2023-03-15'],
  ])('%s of %s is %s', async (format, serial, text) => {
    expect(await shown(styled(serial), { formats: [format] })).toBe(text);
  });

  it('with the days of 1904', async () => {
    expect(await shown(styled(0), { formats: ['yyyy-mm-dd'], from1904: true })).toBe('1904-01-01');
    expect(await shown(styled(43_538), { formats: ['yyyy-mm-dd'], from1904: true })).toBe('2023-03-15');
  });

  it.each([
    ['[h]:mm', 1.5, '36:00'],
    ['[m]', 0.25, '360'],
    ['[s]', 1, '86400'],
    [46, 1.5, '36:00:00'],
    ['h:mm', 1.5, '12:00'],
    ['d', 0, '1'],
    [14, 43_538, '2023-03-15'],
  ])('time elapsed is not counted from 1904: %s of %s is %s', async (format, value, text) => {
    expect(await shown(styled(value), { formats: [format], from1904: true })).toBe(text);
  });

  it.each([
    ['2023-03-15T00:00:00', 'yyyy.mm.dd', '2023.03.15'],
    ['2023-03-15T14:30:00Z', 'yyyy-mm-dd h:mm', '2023-03-15 14:30'],
    ['2023-03-15', 'd-mmm', '15-Mar'],
    ['14:30:00', 'h:mm', '14:30'],
    ['2023-03-15T00:00:00.000', '0', '2023-03-15'],
    ['2023-03-15T14:30:00', '0', '2023-03-15 14:30:00'],
  ])('%s with the format %s is %s', async (written, format, text) => {
    expect(await shown({ xml: `t="d" s="1"><v>${written}</v>` }, { formats: [format], strict: true })).toBe(
      text,
    );
  });

  it.each([
    ...['99112233', '-1', '2958466'].map((written) => [written, 'yyyy-mm-dd']),
    ...['yyyy-mm-dd', 'd.m', 'mmm yyyy', 'yyyy-mm-dd h:mm'].map((format) => ['0', format]),
    ['0.5', 'yyyy-mm-dd h:mm'],
    ['60', 'yyyy-mm-dd'],
  ])('%s with the date format %s is refused', async (written, format) => {
    const { rows } = await read(
      workbook({ formats: [format], sheets: [{ rows: [['phone'], [styled(written)]] }] }),
    );
    expect(rows[1]).toMatchObject({
      record: [written],
      faults: [
        {
          field: 0,
          letters: 'A',
          error: `${written} has a date format, but is not a date: format it as a number or text`,
        },
      ],
    });
  });
});

describe('a cell', () => {
  it.each<[string, TestCell, string]>([
    ['of true', { xml: 't="b"><v>1</v>' }, 'TRUE'],
    ['of false', { xml: 't="b"><v>0</v>' }, 'FALSE'],
    ['with a formula has its stored number', { xml: '><f>40000000+59112233</f><v>99112233</v>' }, '99112233'],
    ['with a formula has its stored text', { xml: 't="str"><f>A1&amp;"x"</f><v>Бат</v>' }, 'Бат'],
    ['of an inline text', { xml: 't="inlineStr"><is><t>Бат</t></is>' }, 'Бат'],
    ['of an inline text beside a value', { xml: 't="inlineStr"><is><t>Бат</t></is><v>Bat</v>' }, 'Бат'],
    ['of an inline text behind a value', { xml: 't="inlineStr"><v>Bat</v><is><t>Бат</t></is>' }, 'Бат'],
    [
      'of an inline rich text',
      { xml: 't="inlineStr"><is><r><t>Бат </t></r><r><rPr><b/></rPr><t>Дорж</t></r></is>' },
      'Бат Дорж',
    ],
    ['of a shared text', { xml: 't="s"><v>0</v>' }, 'Сайн уу'],
    ['of a shared rich text', { xml: 't="s"><v>1</v>' }, 'Бат-Эрдэнэ'],
    ['without its phonetic guide', { xml: 't="s"><v>2</v>' }, '東京'],
    ['with entities', { xml: 't="s"><v>3</v>' }, 'a & b < c "d" \u{1f600}'],
    ['with a CDATA section', { xml: 't="str"><v><![CDATA[a<b]]></v>' }, 'a<b'],
    ['with escaped characters', { xml: 't="str"><v>a_x000D__x000a_b _x005F_x0041_</v>' }, 'a\r\nb _x0041_'],
    ['with line ends', { xml: 't="str"><v>a\r\nb\rc</v>' }, 'a\nb\nc'],
    ['with a comment in its value', { xml: '><v>9911<!-- no -->2233</v>' }, '99112233'],
    ['with an extension', { xml: '><v>5</v><extLst><ext uri="x"><x:a xmlns:x="u"/></ext></extLst>' }, '5'],
    ['with attributes in single quotes', { xml: "t = 'str' ><v>x</v>" }, 'x'],
  ])('%s', async (_, cell, text) => {
    const strings = [
      '<t>Сайн уу</t>',
      '<r><t>Бат</t></r><r><rPr><b/></rPr><t xml:space="preserve">-Эрдэнэ</t></r>',
      '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>',
      '<t>a &amp; b &lt; c &quot;d&quot; &#x1F600;</t>',
    ];
    expect(await shown(cell, { strings })).toBe(text);
  });

  it.each<[string, TestCell, string, string]>([
    ['#N/A', { xml: 't="e"><v>#N/A</v>' }, '#N/A', '#N/A is an error, not a value'],
    ['#DIV/0!', { xml: 't="e"><f>1/0</f><v>#DIV/0!</v>' }, '#DIV/0!', '#DIV/0! is an error, not a value'],
    [
      'a formula without a value',
      { xml: '><f>A1+1</f>' },
      '=A1+1',
      'the formula has no stored value: open the file in Excel and save it again',
    ],
    [
      'a formula with an empty value',
      { xml: '><f>A1+1</f><v></v>' },
      '=A1+1',
      'the formula has no stored value: open the file in Excel and save it again',
    ],
  ])('of %s is faulty', async (_, cell, value, error) => {
    const { rows } = await read(
      workbook({
        sheets: [
          {
            rows: [
              ['a', 'b'],
              ['x', cell],
            ],
          },
        ],
      }),
    );
    expect(rows[1]).toEqual({ row: 2, record: ['x', value], faults: [{ field: 1, letters: 'B', error }] });
  });

  it.each([
    ['no number', '><v>abc</v>', /cell A2 of xl\/worksheets\/sheet1\.xml is not a number: abc/],
    ['a text that is missing', 't="s"><v>99</v>', /cell A2 .* refers to text 99, which is missing/],
    ['a text without a number', 't="s"><v>x</v>', /refers to text x/],
    ['an unknown type', 't="z"><v>1</v>', /cell A2 .* has the unknown type z/],
    ['no date', 't="d"><v>soon</v>', /cell A2 .* is not a date: soon/],
    ['two numbers', '><v>9911</v><v>2233</v>', /cell A2 .* has two values/],
    ['two texts', 't="inlineStr"><is><t>9911</t></is><is><t>2233</t></is>', /cell A2 .* has two values/],
    ['a text and a number', 't="str"><is><t>9911</t></is><v>2233</v>', /cell A2 .* has two values/],
  ])('of %s ends the reading', async (_, xml, message) => {
    await expect(read(workbook({ sheets: [{ rows: [['a'], [{ xml }]] }] }))).rejects.toThrow(message);
  });
});

it('columns are numbered as Excel names them', () => {
  for (const [column, name] of [
    [0, 'A'],
    [25, 'Z'],
    [26, 'AA'],
    [701, 'ZZ'],
    [702, 'AAA'],
    [16_383, 'XFD'],
  ] as const) {
    expect(columnLetters(column)).toBe(name);
    expect(columnOf(`${name}7`)).toBe(column);
  }
  expect(columnOf('7')).toBe(-1);
});
