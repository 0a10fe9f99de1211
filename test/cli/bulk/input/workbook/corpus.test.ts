import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { fileKind } from '../../../../../src/cli/bulk/input/file-kind.js';
import { read } from './read.js';

const corpus = resolve('test/fixtures/workbooks');
const writers = ['exceljs', 'libreoffice', 'openpyxl'];
const files = writers.flatMap((writer) =>
  readdirSync(join(corpus, writer))
    .filter((name) => name.endsWith('.csv'))
    .map((name) => `${writer}/${name.slice(0, -4)}`),
);

/** Where a cell is not as LibreOffice shows it: the format, what LibreOffice shows, what is read. */
const differences: [format: string, office: string, read: string, reason: string][] = [
  ['[$-FC19]d mmmm yyyy" г."', '15 March 2023 г.', '15 марта 2023 г.', 'Excel knows this code'],
  ['[$-FC19]d mmmm yyyy" г."', '16 March 2027 г.', '16 марта 2027 г.', 'Excel knows this code'],
  // LibreOffice saves the points as slashes, which Excel shows as its reader separates dates.
  ['[$-419]dd.mmm.yy', '15.мар.23', '15/мар/23', 'the separator of the reader is not known'],
  ['[$-419]dd.mmm.yy', '16.мар.27', '16/мар/27', 'the separator of the reader is not known'],
  // openpyxl writes the id of a built-in format, which has the sign of the reader's region.
  ['"$"#,##0_);("$"#,##0)', '$1,235', '1,235', 'the file names no currency'],
  ['"$"#,##0_);("$"#,##0)', '($1,235)', '-1,235', 'the file names no currency'],
  ['"$"#,##0_);("$"#,##0)', '$0', '0', 'the file names no currency'],
];
/** What aligns a fraction in its column is left out. */
const unaligned = (text: string) => text.trim().replace(/ {2,}(?=\d)/, ' ');

async function cellsOf(file: string) {
  const { rows, columns } = await read(readFileSync(join(corpus, `${file}.xlsx`)), { headerless: true });
  const office: string[][] = parse(readFileSync(join(corpus, `${file}.csv`)), { relax_column_count: true });
  return rows.flatMap(({ row, record }) =>
    columns.map((column, field) => ({
      cell: `${row},${column}`,
      format: office[row - 1]?.[0] ?? '',
      office: unaligned(office[row - 1]?.[column] ?? ''),
      read: record[field]?.trim() ?? '',
    })),
  );
}

describe('a workbook is read as LibreOffice shows it', () => {
  it.each(files)('%s', async (file) => {
    const cells = await cellsOf(file);
    expect(cells.length).toBeGreaterThan(20);
    const different = cells.filter(
      (cell) =>
        cell.read !== cell.office &&
        !differences.some(
          ([format, office, ours]) => cell.format === format && cell.office === office && cell.read === ours,
        ),
    );
    expect(different).toEqual([]);
  });

  it('with every difference that is named', async () => {
    const cells = (await Promise.all(files.map(cellsOf))).flat();
    for (const [format, office, ours] of differences) {
      expect(cells).toContainEqual(expect.objectContaining({ format, office, read: ours }));
    }
  });
});

it('one that LibreOffice has encrypted is refused', async () => {
  const bytes = readFileSync(join(corpus, 'libreoffice/encrypted.xlsx'));
  async function* blocks() {
    yield bytes;
  }
  await expect(fileKind(bytes.subarray(0, 4_096), blocks(), 'list.xlsx')).rejects.toThrow(
    'list.xlsx is encrypted',
  );
});
