import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { read, recordsOf } from './read.js';
import {
  type TestCell,
  type TestSheet,
  type TestWorkbook,
  workbook,
  workbookParts,
  zipOf,
} from './write-workbook.js';

const list = [
  ['phone', 'name'],
  [99_112_233, 'Бат'],
  ['88112233', 'Дорж'],
];
const records = [
  ['phone', 'name'],
  ['99112233', 'Бат'],
  ['88112233', 'Дорж'],
];

describe('workbooks of every shape are read alike', () => {
  it.each<[string, Partial<TestWorkbook>]>([
    ['Excel', {}],
    ['strict Open XML', { strict: true }],
    ['inline texts, as openpyxl and exporters write them', { inline: true }],
    ['a prefix on every element, as the Open XML SDK writes it', { prefix: 'x' }],
    ['no references, as small writers leave them out', { bare: true, inline: true }],
  ])('%s', async (_, shape) => {
    expect(await recordsOf(workbook({ sheets: [{ rows: list }], ...shape }))).toEqual(records);
  });

  it.each([1, 7, 100])('in blocks of %i bytes', async (blockBytes) => {
    expect(await recordsOf(workbook({ sheets: [{ rows: list }] }), { blockBytes })).toEqual(records);
  });

  it('stored without compression, and with parts named in another case', async () => {
    const parts = workbookParts({ sheets: [{ rows: list }] });
    expect(await recordsOf(zipOf(parts, { stored: true }))).toEqual(records);
    const renamed = [...parts].map(
      ([name, part]) => [name.replace('sharedStrings', 'SharedStrings'), part] as const,
    );
    expect(await recordsOf(zipOf(renamed))).toEqual(records);
  });

  it('with a byte order mark in its parts', async () => {
    const parts = workbookParts({ sheets: [{ rows: list }] });
    for (const [name, part] of parts) parts.set(name, Buffer.concat([Buffer.from('\ufeff'), part]));
    expect(await recordsOf(zipOf(parts))).toEqual(records);
  });

  it.each(['le', 'be'])('with parts in UTF-16%s, merged cells among them', async (end) => {
    const rest = '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>';
    for (const mark of ['\ufeff', '']) {
      const parts = workbookParts({ sheets: [{ rows: list, rest }] });
      for (const [name, part] of parts) {
        const text = part.toString().replace('encoding="UTF-8"', 'encoding="UTF-16"');
        const wide = Buffer.from(mark + text, 'utf16le');
        parts.set(name, end === 'le' ? wide : wide.swap16());
      }
      const { rows } = await read(zipOf(parts));
      expect(rows.map(({ record }) => record)).toEqual(records);
      expect(rows[2]?.faults).toMatchObject([{ field: 0, isHidden: true }]);
    }
  });

  it('with spacing between its elements, as LibreOffice never and people sometimes write it', async () => {
    const data =
      '\n <row r="1">\n  <c r="A1" t="str">\n   <v>phone</v>\n  </c>\n </row>\n <row r="2"><c r="A2"><v> 99112233 </v></c></row>\n';
    expect(await recordsOf(workbook({ sheets: [{ data }] }))).toEqual([['phone'], ['99112233']]);
  });
});

describe('the rows of a sheet', () => {
  const rowsOf = async (sheet: TestSheet, options = {}) =>
    (await read(workbook({ sheets: [sheet] }), options)).rows.map(({ row, record }) => [row, ...record]);

  it('keep their numbers over empty rows, rows without cells and rows that are not written', async () => {
    const rows: (TestCell[] | null)[] = [
      null,
      [],
      ['phone'],
      [99_112_233],
      null,
      [' '],
      [null],
      [88_112_233],
    ];
    expect(await rowsOf({ rows })).toEqual([
      [3, 'phone'],
      [4, '99112233'],
      [8, '88112233'],
    ]);
  });

  it('begin at the first column with a name; those before and empty ones between are left out', async () => {
    const rows = [
      [null, null, 'phone', null, 'name'],
      [null, ' ', 99_112_233, null, 'Бат'],
      [5, null, 88_112_233, null, 'Дорж'],
    ];
    const reading = await read(workbook({ sheets: [{ rows }] }));
    expect(reading.columns).toEqual([2, 4]);
    expect(reading.namelessColumns).toBe(1);
    expect(reading.rows.slice(1)).toEqual([
      { row: 2, record: ['99112233', 'Бат'], faults: [] },
      { row: 3, record: ['88112233', 'Дорж'], faults: [] },
    ]);
  });

  it('are faulty where something stands in a column without a name', async () => {
    const rows = [
      ['phone', null, 'name'],
      [99_112_233, 'x', 'Бат', 'note'],
    ];
    const { rows: found } = await read(workbook({ sheets: [{ rows }] }));
    expect(found[1]).toEqual({
      row: 2,
      record: ['99112233', 'Бат', 'x', 'note'],
      faults: [
        { field: null, letters: 'B', error: 'the column has no name in the header' },
        { field: null, letters: 'D', error: 'the column has no name in the header' },
      ],
    });
  });

  it('without a header have the columns that the first one fills', async () => {
    const rows = [[null, 99_112_233, null, 'Бат'], [null, 88_112_233, 'x', 'Дорж', 'y'], ['z']];
    const { rows: found } = await read(workbook({ sheets: [{ rows }] }), { headerless: true });
    expect(found.map(({ record }) => record)).toEqual([
      ['99112233', '', 'Бат'],
      ['88112233', 'x', 'Дорж', 'y'],
      ['', '', '', 'z'],
    ]);
    expect(found[1]?.faults).toMatchObject([{ field: null, letters: 'E' }]);
    expect(found[2]?.faults).toMatchObject([{ field: null, letters: 'A' }]);
  });

  it('are counted where they are hidden, and read', async () => {
    const cell = (place: string) => `<c r="${place}" t="str"><v>x</v></c>`;
    const data = `<row r="1">${cell('A1')}</row><row r="2" hidden="1">${cell('A2')}</row><row r="3" hidden="true"/><row r="4" hidden="0">${cell('A4')}</row>`;
    expect(await read(workbook({ sheets: [{ data }] }))).toMatchObject({
      hiddenRows: 1,
      rows: { length: 3 },
    });
  });

  it.each([
    ['a row before the last one', '<row r="2"/><row r="1"/>', /has row 1 after row 2/],
    ['a row twice', '<row r="2"/><row r="2"/>', /has row 2 after row 2/],
    ['a row of no number', '<row r="x"/>', /has row x after row 0/],
    ['a row beyond the last one of Excel', '<row r="1048577"/>', /has row 1048577/],
    ['a cell before the last one', '<row r="1"><c r="B1"/><c r="A1"/></row>', /has cell A1 out of order/],
    ['a cell twice', '<row r="1"><c r="B1"/><c r="B1"/></row>', /has cell B1 out of order/],
    ['a cell of another row', '<row r="1"><c r="B2"/></row>', /has cell B2 in row 1/],
    ['a cell of no column', '<row r="1"><c r="11"/></row>', /has cell 11 in row 1/],
    ['a cell beyond the last one of Excel', '<row r="1"><c r="XFE1"/></row>', /has cell XFE1 out of order/],
  ])('with %s end the reading', async (_, data, message) => {
    await expect(read(workbook({ sheets: [{ data }] }), { sheet: 'Sheet1' })).rejects.toThrow(message);
  });
});

describe('the sheet', () => {
  const empty = { rows: [] };
  const blank = { data: '<row r="1"><c r="A1" s="0"/></row>' };
  const full = { rows: list };

  it.each<[string, TestSheet[], string]>([
    ['the only one', [full], 'Sheet1'],
    ['the only one with rows', [empty, blank, full], 'Sheet3'],
    [
      'the only visible one with rows',
      [{ ...full, state: 'hidden' }, full, { ...full, state: 'veryHidden' }],
      'Sheet2',
    ],
  ])('is %s', async (_, sheets, sheet) => {
    expect(await read(workbook({ sheets }))).toMatchObject({ sheet, rows: { length: 3 } });
  });

  it('is the one that is named, hidden or not, in any case', async () => {
    const book = workbook({ sheets: [full, { name: 'Дуудлага', rows: [['x']], state: 'hidden' }] });
    expect((await read(book, { sheet: 'Дуудлага' })).rows).toHaveLength(1);
    expect((await read(book, { sheet: ' дуудлага' })).rows).toHaveLength(1);
    expect((await read(book, { sheet: 'SHEET1' })).rows).toHaveLength(3);
  });

  it.each<[string, TestSheet[], string | undefined, string, string, string[]]>([
    [
      'several with rows',
      [full, { ...full, name: 'July' }],
      undefined,
      'has several sheets with rows',
      'Choose one with --sheet. Sheets: Sheet1, July.',
      ['Sheet1', 'July'],
    ],
    [
      'hidden ones only',
      [empty, { ...full, state: 'hidden' }],
      undefined,
      'has rows in hidden sheets only',
      'Choose one with --sheet. Sheets: Sheet2.',
      [],
    ],
    ['no rows at all', [empty, blank], undefined, 'has no rows', 'Is it the right file?', []],
    ['none of that name', [full, empty], 'July', 'has no sheet named July', 'Sheets: Sheet1, Sheet2.', []],
  ])('of a workbook with %s is not guessed', async (_, sheets, sheet, message, hint, choices) => {
    await expect(read(workbook({ sheets }), sheet === undefined ? {} : { sheet })).rejects.toMatchObject({
      name: 'WorkbookError',
      message,
      hint,
      sheets: choices,
    });
  });

  it.each(['', undefined])('is never a module of macros, whose id is %j', async (id) => {
    const parts = workbookParts({ sheets: [full, { ...full, name: 'Module1' }] });
    const book = parts.get('xl/workbook.xml')?.toString() ?? '';
    const written = id === undefined ? '' : ' r:id=""';
    parts.set('xl/workbook.xml', Buffer.from(book.replace(' r:id="rId2"', written)));
    expect((await read(zipOf(parts))).sheet).toBe('Sheet1');
    await expect(read(zipOf(parts), { sheet: 'module1' })).rejects.toMatchObject({
      message: 'has no cells in Module1',
      hint: 'Sheets: Sheet1.',
    });
  });

  it('is never a chart', async () => {
    const parts = workbookParts({ sheets: [full, full] });
    const relations = parts.get('xl/_rels/workbook.xml.rels')?.toString() ?? '';
    const chart = relations.replace(
      /worksheet" Target="worksheets\/sheet2/,
      'chartsheet" Target="worksheets/sheet2',
    );
    parts.set('xl/_rels/workbook.xml.rels', Buffer.from(chart));
    expect((await read(zipOf(parts))).sheet).toBe('Sheet1');
  });
});

it('formats that no cell has cost nothing', async () => {
  const formats = Array.from({ length: 45_000 }, (_, index) => `0.00" № ${index}"`);
  const bytes = workbook({ formats, sheets: [{ rows: list }] });
  const before = process.cpuUsage();
  expect(await recordsOf(bytes)).toEqual(records);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(0.9);
});

describe('rows written are the rows read', () => {
  const text = fc
    .string({
      unit: fc.constantFrom(
        'a',
        'Ө',
        '1',
        ' ',
        '"',
        ',',
        '&',
        '<',
        '>',
        '\n',
        '\t',
        '_',
        'x',
        '0',
        '\u{1f600}',
        "'",
        '=',
      ),
    })
    .filter((value) => value.trim() !== '');
  const cell = fc.oneof(
    text,
    fc.constant(null),
    fc.integer({ min: 0, max: 2 ** 48 }),
    fc.integer({ min: -1e9, max: 1e9 }).map((number) => number / 10_000),
  );
  const shape = fc.record({
    inline: fc.boolean(),
    strict: fc.boolean(),
    bare: fc.constant(false),
    prefix: fc.constantFrom('', 'x', 'main'),
  });

  it('whatever is in them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.array(cell, { maxLength: 4 }), { nil: null }), { maxLength: 8 }),
        shape,
        fc.integer({ min: 1, max: 5_000 }),
        async (below, { prefix, ...book }, blockBytes) => {
          const rows = [['a', 'b', 'c', 'd'], ...below];
          const bytes = workbook({ ...book, ...(prefix === '' ? {} : { prefix }), sheets: [{ rows }] });
          const expected = rows.flatMap((cells, index) =>
            cells === null || cells.every((value) => value === null)
              ? []
              : [
                  {
                    row: index + 1,
                    record: ['a', 'b', 'c', 'd'].map((_, at) => shownAs(cells[at] ?? null)),
                    faults: [],
                  },
                ],
          );
          expect((await read(bytes, { blockBytes })).rows).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  const shownAs = (value: string | number | null) => (value === null ? '' : String(value));
});
