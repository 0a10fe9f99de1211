import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../support/binary.js';
import { recipients } from './people.js';
import { ServiceProcess } from './service-process.js';

const machine = new Machine();
const service = new ServiceProcess(machine, join(machine.home, 'service'));

/** Of the numbers that the command's own table has, the service refuses those of one operator. */
const served = { Mobicom: ['85', '94', '95', '99'], Unitel: ['80', '86', '88', '89'] };
const good = recipients(0, 880);
const bad = Array.from({ length: 120 }, (_, index) => String(83_000_000 + index));
const isBad = new Set(bad);
const everybody = good.flatMap((number, index) => {
  const refused = bad.slice(Math.floor((index * 3) / 22), Math.floor(((index + 1) * 3) / 22));
  return [number, ...refused];
});
const poor = recipients(1_000_000, 30);

beforeAll(() => service.create(880 * 10 + 17 * 10, { operators: served }));
afterAll(async () => {
  await service.kill();
  machine.remove();
});

function bulk(job: string, numbers: readonly string[], text: string, ...options: string[]): string[] {
  const file = join(machine.home, `${job}.csv`);
  writeFileSync(file, `phone\n${numbers.join('\n')}\n`);
  const line = ['sms', 'bulk', file, '--text', text, '--job', job, '--yes', '--allow-partial', '--json'];
  return [...line, ...options, '--base-url', `http://127.0.0.1:${service.port}/v1`];
}
const run = (words: string[]) => machine.run(words, { env: { URTUU_API_KEY: service.key } });
const figures = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;

describe('urtuu sms bulk at urtuu serve', () => {
  it('ends a batch of 1,000 with 120 numbers that are refused as 880 accepted and 120 rejected, by line', async () => {
    expect(new Set(everybody).size).toBe(1_000);
    const report = join(machine.home, 'report.csv');
    const { code, stdout } = await run(bulk('mixed', everybody, 'Hello', '--wait', '--report', report));
    expect({ code, stdout }).toMatchObject({ code: 3 });
    expect(figures(stdout)).toMatchObject({
      planned: 1_000,
      accepted: 880,
      rejected: 120,
      failed: 0,
      in_doubt: 0,
      pending: 0,
      credits: 8_800,
      batches: [{ recipients: 880, sent: 880, failed: 0 }],
    });
    const rows = readFileSync(report, 'utf8').trim().split('\r\n').slice(1);
    expect(rows.map((row) => [row.split(',')[0], row.split(',')[3], Number(row.split(',')[6])])).toEqual(
      everybody.map((number, index) => [number, isBad.has(number) ? 'rejected' : 'sent', index + 2]),
    );
  });

  it('stops where the credits end, and after a top-up the same command completes it', async () => {
    const words = bulk('poor', poor, 'Hello {phone}');
    const first = await run(words);
    expect(first.code).toBe(7);
    expect(figures(first.stdout)).toMatchObject({ planned: 30, accepted: 17, in_doubt: 0, pending: 13 });
    expect(first.stderr).toMatch(/out of credits.*Resume with:.*urtuu jobs resume poor/s);
    const topUp = await run(['sandbox', 'credit', '1000', '--data', service.data]);
    expect(topUp.code).toBe(0);
    const second = await run(words);
    expect(second.code).toBe(0);
    expect(figures(second.stdout)).toMatchObject({ planned: 30, accepted: 30, credits: 300, balance: 870 });
  });

  it('has left exactly one message with everybody, and none with those that were refused', async () => {
    const got = await service.deliveries();
    expect([...got.keys()].sort()).toEqual([...good, ...poor].sort());
    expect([...got.values()].every((count) => count === 1)).toBe(true);
  });
});
