import { execFileSync } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SheetCell } from '../../src/cli/xlsx/sheet-xml.js';
import { workbookOf } from '../../src/cli/xlsx/workbook.js';
import { needProgram, needPythonModule, python } from './programs.js';

const office = '/usr/bin/soffice';
const folder = fileFolder();
const columns = ['phone', 'name', 'credits', 'at', 'nothing'];
const texts = ['Бат-Эрдэнэ', '=1+2', ' зайтай ', 'a & b < c "d"', 'хоёр\nмөр', "'=x", '\u{1f600}', '0012'];
const rows = texts.map((text, index): SheetCell[] => [
  String(99_112_233 + index),
  text,
  10.5 + index,
  new Date(2026, 1, 28, 23, 5, index),
  null,
]);

/** As LibreOffice and openpyxl are asked for it: numbers plain, times without their zone. */
const expected = rows.map(([phone, text, credits], index) => [
  phone,
  text,
  String(credits),
  `2026-02-28 23:05:0${index}`,
  '',
]);

async function* each<Row>(list: Iterable<Row>): AsyncGenerator<Row> {
  yield* list;
}

function write(name: string, list: Iterable<SheetCell[]>, most?: number) {
  const summary = { name: 'Summary', columns: ['figure', 'value'], rows: each([['planned', 8]]) };
  const report = { name: 'Report', columns, rows: each(list) };
  const limits = most === undefined ? undefined : { rows: most, bytes: Number.POSITIVE_INFINITY };
  return pipeline(workbookOf(report, summary, limits), createWriteStream(join(folder, name)));
}

/** Every sheet as LibreOffice shows it. */
function shown(name: string, sheets: readonly string[]): string[][][] {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,true,true,false,false,-1';
  execFileSync(
    office,
    ['--headless', profile, '--convert-to', filter, '--outdir', folder, join(folder, name)],
    {
      stdio: 'pipe',
    },
  );
  const base = name.replace('.xlsx', '');
  return sheets.map((sheet) => parse(readFileSync(join(folder, `${base}-${sheet}.csv`))));
}

const script = `
import openpyxl, json, sys
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps([[sheet.title, [[[cell.data_type, None if cell.value is None else str(cell.value)] for cell in row]
  for row in sheet.iter_rows()]] for sheet in book]))
`;

import { fileFolder } from '../support/folders.js';

beforeAll(() => {
  needProgram(office, 'libreoffice-calc');
  needPythonModule('openpyxl', 'python3-openpyxl');
});

describe('a report as a workbook', () => {
  it('is opened by LibreOffice', { timeout: 120_000 }, async () => {
    await write('one.xlsx', rows);
    expect(shown('one.xlsx', ['Report', 'Summary'])).toEqual([
      [columns, ...expected],
      [
        ['figure', 'value'],
        ['planned', '8'],
      ],
    ]);
  });

  it('is opened by openpyxl, which finds texts, numbers and times', async () => {
    await write('two.xlsx', rows);
    const out = execFileSync(python, ['-W', 'error', '-c', script, join(folder, 'two.xlsx')]);
    const [[title, [header, ...below]], [second]] = JSON.parse(String(out));
    expect([title, second]).toEqual(['Report', 'Summary']);
    expect(header).toEqual(columns.map((name) => ['s', name]));
    expect(below).toEqual(
      expected.map(([phone, text, credits, at]) => [
        ['s', phone],
        ['s', text],
        ['n', credits],
        ['d', at],
        ['n', null],
      ]),
    );
  });

  it('has as many sheets as it needs for both', { timeout: 120_000 }, async () => {
    await write('three.xlsx', rows, 3);
    const sheets = shown('three.xlsx', ['Report', 'Report 2', 'Report 3']);
    expect(sheets.map(([header]) => header)).toEqual([columns, columns, columns]);
    expect(sheets.flatMap(([, ...below]) => below)).toEqual(expected);
    const out = execFileSync(python, ['-W', 'error', '-c', script, join(folder, 'three.xlsx')]);
    expect(JSON.parse(String(out)).map(([title]: [string]) => title)).toEqual([
      'Report',
      'Report 2',
      'Report 3',
      'Summary',
    ]);
  });

  it('of 300,000 rows is opened by LibreOffice whole', { timeout: 300_000 }, async () => {
    const count = 300_000;
    function* many(): Generator<SheetCell[]> {
      for (let row = 0; row < count; row += 1) yield [String(99_000_000 + row), 'Бат', row, null, null];
    }
    await write('many.xlsx', many());
    const [[, ...below] = []] = shown('many.xlsx', ['Report']);
    expect(below).toHaveLength(count);
    expect(below.at(-1)?.slice(0, 3)).toEqual([String(99_000_000 + count - 1), 'Бат', String(count - 1)]);
  });
});
