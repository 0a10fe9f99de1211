import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Archive, MemoryStore } from '../../../src/cli/bulk/input/workbook/archive.js';
import type { SheetCell } from '../../../src/cli/xlsx/sheet-xml.js';
import { type SheetLimits, workbookOf } from '../../../src/cli/xlsx/workbook.js';
import { type ZipPart, zipOf } from '../../../src/cli/xlsx/zip.js';
import { read } from '../bulk/input/workbook/read.js';

async function* each<Row>(rows: Iterable<Row>): AsyncGenerator<Row> {
  yield* rows;
}

const summary = () => ({ name: 'Summary', columns: ['figure', 'value'], rows: each([['planned', 3]]) });
const book = (columns: readonly string[], rows: AsyncIterable<readonly SheetCell[]>, limits?: SheetLimits) =>
  workbookOf({ name: 'Report', columns, rows }, summary(), limits);

describe('a workbook', () => {
  it('is read as it was written', async () => {
    const texts = [
      'Бат-Эрдэнэ',
      '=1+2',
      '99112233',
      '0012',
      ' зайтай ',
      'a & b < c > d "e"',
      'хоёр\nмөр\ttab\r\n',
      '_x0041_ _x005F_',
      'bell \u0007, form feed \f, \uffff',
      '\u{1f600}',
      '\ud83d alone',
    ];
    const bytes = await buffer(
      book(
        ['text', 'number', 'time', 'nothing', 'name & <more>'],
        each(
          texts.map((text, index): SheetCell[] => [
            text,
            index - 0.5,
            new Date(2026, 1, 28, 23, 5, 9),
            null,
            'x',
          ]),
        ),
      ),
    );
    const { rows, sheet } = await read(bytes);
    expect(sheet).toBe('Report');
    expect(rows[0]?.record).toEqual(['text', 'number', 'time', 'nothing', 'name & <more>']);
    expect(rows.slice(1).map(({ record }) => record)).toEqual(
      texts.map((text, index) => [text, String(index - 0.5), '2026-02-28 23:05:09', '', 'x']),
    );
  });

  it.each<[string, number, SheetLimits]>([
    ['rows', 5, { rows: 2, bytes: Number.POSITIVE_INFINITY }],
    ['bytes', 7, { rows: Number.POSITIVE_INFINITY, bytes: 60_000 }],
  ])('goes on in more sheets beyond its limit of %s', async (_, count, limits) => {
    const rows = Array.from({ length: count }, (_, index): SheetCell[] => [index, 'x'.repeat(30_000)]);
    const bytes = await buffer(book(['number', 'text'], each(rows), limits));
    await expect(read(bytes)).rejects.toMatchObject({
      message: 'has several sheets with rows',
      sheets: ['Report', 'Report 2', 'Report 3'],
    });
    const sheets = ['Report', 'Report 2', 'Report 3'];
    const records = await Promise.all(sheets.map(async (sheet) => (await read(bytes, { sheet })).rows));
    expect(records.map(([header]) => header?.record)).toEqual(sheets.map(() => ['number', 'text']));
    expect(records.flatMap(([, ...below]) => below.map(({ record }) => record[0]))).toEqual(
      rows.map((_, index) => String(index)),
    );
    expect((await read(bytes, { sheet: 'Summary' })).rows[1]?.record).toEqual(['planned', '3']);
  });

  it('has numbers as numbers, and texts that look like them as texts', async () => {
    const store = new MemoryStore();
    store.append(await buffer(book(['a', 'b'], each([['99112233', 10.5]]))));
    const sheet = await buffer((await Archive.open(store)).read('xl/worksheets/sheet1.xml'));
    expect(String(sheet)).toContain(
      '<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>99112233</t></is></c><c r="B2"><v>10.5</v></c></row>',
    );
  });

  it('without a row has its header', async () => {
    const { rows } = await read(await buffer(book(['a', 'b'], each([]))));
    expect(rows.map(({ record }) => record)).toEqual([['a', 'b']]);
  });

  it.each([
    ['a text', ['a'], [['x'.repeat(32_768)]], 'a text in it has over 32767 characters'],
    ['a row', Array.from({ length: 16_385 }, String), [], 'it has over 16384 columns'],
  ] as const)('is refused for %s that is too long', async (_, columns, rows, message) => {
    await expect(buffer(book(columns, each(rows)))).rejects.toThrow(message);
  });

  it('takes rows no faster than it is written, and lets go of them', async () => {
    let taken = 0;
    let isClosed = false;
    async function* rows(): AsyncGenerator<SheetCell[]> {
      try {
        for (; taken < 1_048_575; taken += 1) yield [String(taken * 7_919), 'sent', taken];
      } finally {
        isClosed = true;
      }
    }
    let blocks = 0;
    for await (const _ of book(['a', 'b', 'c'], rows())) {
      blocks += 1;
      if (blocks === 10) break;
    }
    expect(taken).toBeLessThan(60_000);
    expect(isClosed).toBe(true);
  });

  it('ends with the error of its rows', async () => {
    async function* rows(): AsyncGenerator<SheetCell[]> {
      yield ['x'];
      throw new Error('the disk is gone');
    }
    await expect(buffer(book(['a'], rows()))).rejects.toThrow('the disk is gone');
  });
});

describe('an archive', () => {
  it.each([
    ['short', undefined],
    ['of 8 bytes', 20],
  ])('with offsets that are %s is read', async (_, most) => {
    const parts = ['one', 'two', 'three'].map((name): ZipPart => ({ name, content: each([name, name]) }));
    const store = new MemoryStore();
    store.append(await buffer(zipOf(each(parts), most === undefined ? {} : { most })));
    const archive = await Archive.open(store);
    expect(archive.names).toEqual(['one', 'two', 'three']);
    expect(String(await buffer(archive.read('three')))).toBe('threethree');
    const hasWide = store.read(0, store.size).includes('PK\x06\x06', 0, 'latin1');
    expect(hasWide).toBe(most !== undefined);
  });
});
