import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlan } from '../../../../../src/cli/bulk/plan/files/plan-reader.js';
import { numberOf, rowsWork } from '../../../../bench/rows.js';
import { plan, planned, refusal, requestsOf, rowsOf, type TestPlan, temporaryFolder } from '../../plans.js';
import { type TestCell, type TestWorkbook, workbook } from './write-workbook.js';

const source = 'list.xlsx';
const planBook = (book: TestWorkbook, test: TestPlan = {}) => plan(workbook(book), { source, ...test });
const planRows = (rows: (TestCell[] | null)[], test: TestPlan = {}) => planBook({ sheets: [{ rows }] }, test);
const naCell = { xml: 't="e"><v>#N/A</v>' };

describe('a list in a workbook is planned', () => {
  const rows = [
    ['phone', 'name'],
    [99_112_233, 'Бат, "дарга"\nУБ'],
    null,
    [null, ' '],
    [{ xml: '><v>8.8112233E7</v>' }, "=1+1'"],
  ];

  it('as the same list in CSV is', async () => {
    const csv = 'phone,name\n99112233,"Бат, ""дарга""\nУБ"\n88112233,=1+1\'\n';
    const text = 'Сайн уу, {name}';
    const book = await planRows(rows, { text });
    const list = await plan(csv, { text });
    expect(planned(book).meta.digest).toBe(planned(list).meta.digest);
    expect((await requestsOf(book)).map(({ to, lines }) => [to, lines])).toEqual([
      [['99112233'], [2]],
      [['88112233'], [5]],
    ]);
  });

  it('and its rows come back from the plan with the rows of the sheet', async () => {
    const folder = join(temporaryFolder(), 'plan');
    await planRows(rows, { folder });
    const read = [];
    for await (const { line, values } of (await openPlan(folder)).rows()) read.push([line, ...values]);
    expect(read).toEqual([
      [2, '99112233', 'Бат, "дарга"\nУБ'],
      [5, '88112233', "=1+1'"],
    ]);
    expect(readFileSync(join(folder, 'input.csv'), 'utf8')).toBe(
      'phone,name\n99112233,"Бат, ""дарга""\nУБ"\n\n\n88112233,=1+1\'\n',
    );
  });

  it('with the number of its rows, however far apart they are', async () => {
    const data =
      '<row r="9"><c r="C9" t="str"><v>phone</v></c></row><row r="1048576"><c r="C1048576"><v>99112233</v></c></row>';
    const outcome = await planBook({ sheets: [{ data }] });
    expect(await rowsOf(outcome)).toMatchObject([{ line: 1_048_576, values: ['99112233'] }]);
  });

  it('without a header', async () => {
    const outcome = await planRows(
      [
        [null, 99_112_233],
        [null, 88_112_233],
      ],
      { headerless: true },
    );
    expect(await requestsOf(outcome)).toMatchObject([{ to: ['99112233', '88112233'], lines: [1, 2] }]);
  });

  it('says which sheet was read, and how many of its rows are hidden', async () => {
    const data =
      '<row r="1"><c r="A1" t="str"><v>phone</v></c></row><row r="2" hidden="1"><c r="A2"><v>99112233</v></c></row>';
    expect(await planBook({ sheets: [{ name: 'July', data }] })).toMatchObject({
      sheet: 'July',
      hiddenRows: 1,
    });
    expect(await plan('phone\n99112233\n')).toMatchObject({ sheet: null, hiddenRows: 0 });
  });

  it('leaves nothing of the workbook behind in the plan', async () => {
    const folder = join(temporaryFolder(), 'plan');
    await planRows(rows, { folder });
    expect(() => readFileSync(join(folder, 'workbook.tmp'))).toThrow('ENOENT');
  });
});

describe('a bad row of a workbook', () => {
  const bad = [
    [null, 'phone', null, 'name'],
    [null, 'x', null, 'Бат'],
    [null, 99_112_233, null, naCell],
    [null, 88_112_233, null, null],
    [null, 88_112_233, 'stray', 'Дорж'],
    [null, 80_112_233, null, 'Болд'],
  ];

  it('is named by its cell', async () => {
    const outcome = await planRows(bad, { text: 'Hi {name}', skipInvalid: true });
    expect(outcome.rejects.first).toEqual([
      expect.stringMatching(/^list\.xlsx!Sheet1:B2: phone: "x" /),
      'list.xlsx!Sheet1:D3: name: #N/A is an error, not a value',
      expect.stringMatching(/^list\.xlsx!Sheet1:D4: name: /),
      'list.xlsx!Sheet1:5: C: the column has no name in the header',
    ]);
    expect(await requestsOf(outcome)).toMatchObject([{ to: ['80112233'], lines: [6] }]);
  });

  it('is bad only if the row takes its section, also as the condition of one or with a fallback', async () => {
    const outcome = await planRows(
      [
        ['phone', 'name', 'debt', 'city'],
        [99_112_233, naCell, null, null],
        [88_112_233, 'Бат', naCell, null],
        [80_112_233, naCell, 5, null],
        [91_112_233, null, null, naCell],
      ],
      { text: 'Hi{?debt} {name}{/debt} {city|you}', skipInvalid: true },
    );
    expect(outcome.rejects.first).toEqual([
      'list.xlsx!Sheet1:C3: debt: #N/A is an error, not a value',
      'list.xlsx!Sheet1:B4: name: #N/A is an error, not a value',
      'list.xlsx!Sheet1:D5: city: #N/A is an error, not a value',
    ]);
    expect(await requestsOf(outcome)).toMatchObject([{ to: ['99112233'] }]);
  });

  it('stands in the rejects as it was, with its row and error', async () => {
    const { rejects } = await planRows(bad, { text: 'Hi {name}' });
    const [mark, ...lines] = readFileSync(rejects.file ?? '', 'utf8').split('\r\n');
    expect(mark).toBe('\ufeffphone,name,line,error');
    expect(lines[1]).toBe('99112233,#N/A,3,"name: #N/A is an error, not a value"');
    expect(lines[3]).toMatch(/^88112233,Дорж,stray,5,/);
    expect(rejects.rows[1]).toEqual({
      line: 3,
      column: 'name',
      value: '#N/A',
      message: '#N/A is an error, not a value',
    });
  });

  it.each(['yyyy-mm-dd', '[h]:mm', '[$-F800]dddd'])(
    'is none for its recipient in a date format, which is read as stored: %s',
    async (format) => {
      const rows = [
        ['phone', 'on'],
        [{ xml: 's="1"><v>99112233</v>' }, { xml: 's="1"><v>-1</v>' }],
      ];
      const book = workbook({ formats: [format], sheets: [{ rows }] });
      expect((await requestsOf(await plan(book)))[0]?.to).toEqual(['99112233']);
      if (format !== '[h]:mm')
        expect((await plan(book, { text: '{on}' })).rejects.first).toEqual([
          'list.csv!Sheet1:B2: on: -1 has a date format, but is not a date: format it as a number or text',
        ]);
    },
  );

  it('of a conflict is named by the cell of its recipient', async () => {
    const rows = [
      ['name', 'phone'],
      ['a', 99_112_233],
      ['b', 99_112_233],
    ];
    const { rejects } = await planRows(rows, { text: 'Hi {name}' });
    expect(rejects.first[0]).toMatch(/^list\.xlsx!Sheet1:B3: /);
  });

  it('with only an error in it is no empty row', async () => {
    const rows = [
      ['phone', 'name'],
      [null, naCell],
      [99_112_233, 'x'],
      [null, { xml: '><f>B3</f>' }],
    ];
    const { rejects } = await planRows(rows, { skipInvalid: true, text: 'Hi {name}' });
    expect(rejects.first).toEqual([
      'list.xlsx!Sheet1:B2: name: #N/A is an error, not a value',
      expect.stringMatching(/^list\.xlsx!Sheet1:B4: name: the formula has no stored value/),
    ]);
  });

  it('is none with an error in a cell that nothing reads', async () => {
    const rows = [
      ['phone', 'name', 'note'],
      [99_112_233, 'x', naCell],
      [99_112_234, 'y', { xml: '><f>B3</f>' }],
    ];
    expect((await planRows(rows, { text: 'Hi {name}' })).rejects.first).toEqual([]);
    expect((await planRows(rows, { text: 'Hi {note}' })).rejects.first).toEqual([
      'list.xlsx!Sheet1:C2: note: #N/A is an error, not a value',
      expect.stringMatching(/^list\.xlsx!Sheet1:C3: note: the formula has no stored value/),
    ]);
  });

  it('has a value hidden under merged cells in a column that is used', async () => {
    const rest =
      '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="B4:B5"/><mergeCell ref="C2:C6"/></mergeCells>';
    const rows = [
      ['phone', 'name', 'group'],
      [99_112_233, 'Бат', 'a'],
      [{ xml: 's="1"><v>88112233</v>' }, 'Дорж', 'b'],
      [80_112_233, 'Болд', 'c'],
      [85_112_233, '=Сүх', 'd'],
      [86_112_233, 'Нар', 'e'],
    ];
    const book = { sheets: [{ rows, rest }], formats: ['0000-0000'] };
    const outcome = await planBook(book, { text: 'Hi {name}', skipInvalid: true });
    const hidden = (value: string) => `"${value}" is hidden under merged cells: unmerge them, or clear it`;
    expect(outcome.rejects.first).toEqual([
      `list.xlsx!Sheet1:A3: phone: ${hidden('88112233')}`,
      `list.xlsx!Sheet1:B5: name: ${hidden('=Сүх')}`,
    ]);
    expect(await requestsOf(outcome)).toMatchObject([{ lines: [2] }, { lines: [4] }, { lines: [6] }]);

    const rejected = readFileSync(outcome.rejects.file ?? '', 'utf8');
    // Nothing is merged in a CSV file: the way out is another one, however often its rejects are sent.
    const left = (value: string) =>
      `"${value}" was hidden under merged cells: to send it, clear the error of its row`;
    let again = rejected;
    for (const _ of ['once', 'twice']) {
      const { rejects } = await plan(again, { source: 'list.rejected.csv', text: 'Hi {name}' });
      expect(rejects.first).toEqual([
        `list.rejected.csv:2: phone: ${left('88112233')}`,
        `list.rejected.csv:3: name: ${left('=Сүх')}`,
      ]);
      again = readFileSync(rejects.file ?? '', 'utf8');
    }
    const cleared = await plan(again.replace(/,"phone: .*/, ','), { text: 'Hi {name}', skipInvalid: true });
    expect(await requestsOf(cleared)).toMatchObject([{ to: ['88112233'] }]);
    const unnamed = await plan(rejected, { source: 'list.rejected.csv', text: 'Hi', skipInvalid: true });
    expect(await requestsOf(unnamed)).toMatchObject([{ to: ['85112233'] }]);
    const fixed = await plan(rejected.replace('88112233', '88112234').replace("'=Сүх", 'Сүх'), {
      text: 'Hi {name}',
    });
    expect(fixed.rejects.count).toBe(0);
  });

  it('with a lost character is refused as in CSV', async () => {
    const { rejects } = await planRows(
      [
        ['phone', 'name'],
        [99_112_233, 'Б\ufffdт'],
      ],
      {},
    );
    expect(rejects.first[0]).toMatch(/^list\.xlsx!Sheet1:B2: name: contains U\+FFFD/);
  });
});

describe('a workbook that cannot be planned is refused', () => {
  it.each<[string, TestWorkbook, TestPlan, object]>([
    [
      'without a known column',
      { sheets: [{ rows: [null, ['a', 'b']] }] },
      {},
      { kind: 'columns', message: 'list.xlsx!Sheet1:2: no recipient column found' },
    ],
    [
      'with a column twice',
      { sheets: [{ rows: [['a', 'a']] }] },
      {},
      { kind: 'columns', message: 'list.xlsx!Sheet1:1: duplicate column a' },
    ],
    [
      'with several sheets',
      { sheets: [{ rows: [['a']] }, { rows: [['b']] }] },
      {},
      {
        kind: 'sheet',
        message: 'list.xlsx has several sheets with rows',
        hint: 'Choose one with --sheet. Sheets: Sheet1, Sheet2.',
        sheets: ['Sheet1', 'Sheet2'],
      },
    ],
    [
      'without that sheet',
      { sheets: [{ rows: [['a']] }] },
      { sheet: 'x' },
      { kind: 'file', message: 'list.xlsx has no sheet named x' },
    ],
    [
      'without recipients',
      { sheets: [{ rows: [['phone']] }] },
      {},
      { kind: 'empty', message: 'list.xlsx: no recipients' },
    ],
    [
      'with an encoding',
      { sheets: [] },
      { encoding: 'windows-1251' },
      {
        kind: 'options',
        message: 'list.xlsx is an Excel workbook, which has no encoding',
        hint: 'Remove --encoding.',
      },
    ],
    [
      'with a delimiter',
      { sheets: [] },
      { delimiter: ';' },
      { kind: 'options', message: 'list.xlsx is an Excel workbook, which has no delimiter' },
    ],
    [
      'with an endless row',
      {
        sheets: [
          {
            rows: [
              ['phone', 'b', 'c', 'd'],
              [1, ...Array(3).fill('x'.repeat(900_000))],
            ],
          },
        ],
      },
      {},
      { kind: 'csv', message: 'list.xlsx!Sheet1:2: this row has over 2,000,000 characters' },
    ],
  ])('%s', async (_, book, test, error) => {
    expect(await refusal(workbook(book), { source, ...test })).toMatchObject({
      name: 'InputError',
      ...error,
    });
  });

  it('by the name of what was named, standard input too', async () => {
    const bytes = workbook({ sheets: [{ rows: [['phone'], [1]] }] });
    expect(await refusal(bytes.subarray(0, 500), { source })).toMatchObject({
      message: expect.stringMatching(/^list\.xlsx is cut off: /),
    });
    expect(await refusal(bytes.subarray(0, 500), { source: '-' })).toMatchObject({
      message: expect.stringMatching(/^standard input is cut off: /),
    });
    const { rejects } = await plan(bytes, { source: '-' });
    expect(rejects.first[0]).toMatch(/^standard input!Sheet1:A2: /);
  });

  it('and CSV has no sheets', async () => {
    expect(await refusal('phone\n99112233\n', { sheet: 'x' })).toMatchObject({
      kind: 'options',
      message: 'list.csv is not an Excel workbook, so it has no sheets',
      hint: 'Remove --sheet.',
    });
  });
});

it('a large workbook is planned in constant memory', async () => {
  const folder = temporaryFolder();
  const many = 60_000;
  const rows: TestCell[][] = [['phone', 'name', 'day']];
  for (let row = 0; row < many; row += 1)
    rows.push([Number(numberOf(row)), `Бат ${row}`, { xml: `s="1"><v>${40_000 + (row % 900)}</v>` }]);
  const file = join(folder, 'list.xlsx');
  writeFileSync(file, workbook({ sheets: [{ rows }], formats: ['yyyy-mm-dd'] }));
  const run = await rowsWork(folder, ['--max-old-space-size=24']);
  const measured = run('sms', file, '{name}: {day}');
  expect(measured.rows).toBe(many);
  expect(measured.rss).toBeLessThan(170);
}, 60_000);
