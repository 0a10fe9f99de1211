import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { numberOf, rowsWork, writeList } from '../../../bench/rows.js';
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

  it('beside seven jobs that have sent it', async () => {
    const folder = temporaryFolder();
    const list = join(folder, 'list.csv');
    writeList(list, rows, 'phone');
    const run = await rowsWork(folder, ['--max-old-space-size=16']);
    expect(run('jobs', list, 'Сайн уу').rows).toBe(rows);
    const { rows: sent, rss } = run('beside', list, 'Сайн уу');
    expect(sent).toBe(rows);
    expect(rss).toBeLessThan(150);
  });

  it('with four of five rows repeating a recipient', async () => {
    const many = 500_000;
    const folder = temporaryFolder();
    const list = join(folder, 'list.csv');
    const lines = Array.from({ length: many / 5 }, (_, row) => `${numberOf(row)},x`).join('\n');
    writeFileSync(list, `phone,name\n${`${lines}\n`.repeat(5)}`);
    const run = await rowsWork(folder, ['--max-old-space-size=16']);
    const measured = run('sms', list, 'Сайн уу');
    expect(measured.rows).toBe(many / 5);
    expect(measured.rss).toBeLessThan(150);
  });
});
