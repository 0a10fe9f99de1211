import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { workbook } from '../cli/bulk/input/workbook/write-workbook.js';
import { Machine } from '../support/binary.js';

const machine = new Machine();
afterAll(() => machine.remove());

/** The text of the first message. */
async function shown(file: string, text: string): Promise<string> {
  const args = [
    'sms',
    'bulk',
    file,
    '--text',
    text,
    '--dry-run',
    '--json',
    '--skip-invalid',
    '--sandbox',
    '--rejects',
    join(machine.home, 'rejects.csv'),
  ];
  return JSON.parse((await machine.run(args)).stdout).first_message.text;
}

it('the bundle shows the dates of the languages that it keeps', async () => {
  const formats = [
    '[$-450]yyyy" оны "mmmm d',
    '[$-FC19]d mmmm yyyy',
    '[$-409]d mmm yyyy',
    'd mmmm',
    '#,##0.00',
  ];
  const days = formats.map((_, style) => ({ xml: `s="${style + 1}"><v>45270</v>` }));
  const rows = [
    ['phone', 'a', 'b', 'c', 'd', 'e'],
    [99_000_000, ...days],
  ];
  const file = join(machine.home, 'list.xlsx');
  writeFileSync(file, workbook({ formats, sheets: [{ rows }] }));
  expect(await shown(file, '{a}; {b}; {c}; {d}; {e}')).toBe(
    '2023 оны арван хоёрдугаар сар 10; 10 декабря 2023; 10 Dec 2023; 10 December; 45,270.00',
  );
});

it.each(['exceljs/cells', 'exceljs/streamed', 'libreoffice/cells', 'openpyxl/cells', 'openpyxl/zip64'])(
  'the bundle reads %s.xlsx',
  async (name) => {
    const file = resolve('test/fixtures/workbooks', `${name}.xlsx`);
    expect(await shown(file, '{нэр}: {дүн}')).toBe('Бат: 1,234.50 ₮');
  },
);
