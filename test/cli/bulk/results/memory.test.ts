import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rowsWork, writeList } from '../../../bench/rows.js';
import { temporaryFolder } from '../plans.js';

it('a report of 100,000 single sends is written in constant memory: a heap of 20 MiB is enough', async () => {
  const rows = 100_000;
  const folder = temporaryFolder();
  const list = join(folder, 'list.csv');
  writeList(list, rows, 'phone');
  const run = await rowsWork(folder, ['--max-old-space-size=20']);
  const measured = run('report', list, '{name}, {phone}: {amount}');
  expect(measured.rows).toBe(rows);
  expect(measured.rss).toBeLessThan(150);
});
