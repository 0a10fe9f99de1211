import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rowsWork, writeList } from '../../../bench/rows.js';
import { temporaryFolder } from '../plans.js';

describe('a large list is planned in constant memory', () => {
  const rows = 200_000;
  it.each([
    ['sms', 'Сайн уу'],
    ['sms', '{name}, {phone}: {amount}'],
    ['email', '{name}, {email}: {amount}'],
  ] as const)('%s, %j: a heap of 16 MiB is enough', async (work, text) => {
    const folder = temporaryFolder();
    const list = join(folder, 'list.csv');
    writeList(list, rows, work === 'sms' ? 'phone' : 'email');
    const run = await rowsWork(folder, ['--max-old-space-size=16']);
    const measured = run(work, list, text);
    expect(measured.rows).toBe(rows);
    expect(measured.rss).toBeLessThan(150);
  });
});
