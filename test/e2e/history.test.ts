import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();

const env = { URTUU_SANDBOX: '1' };
const urtuu = (...args: string[]) => machine.run(args, { env });

it('keeps what processes write while others prune and read it', { timeout: 60_000 }, async () => {
  const folder = join(machine.home, 'state/urtuu');
  const file = join(folder, 'history.ndjson');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const old = (key: number) =>
    `${JSON.stringify({ time: '2020-01-01T00:00:00.000Z', status: 'sent', key })}\n`;
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  const lines = Array.from({ length: 300_000 }, (_, key) => old(key));
  const kept = ['a', 'b'].map((key) => `${JSON.stringify({ time: yesterday, status: 'sent', key })}\n`);
  writeFileSync(file, [...lines, ...kept].join(''), { mode: 0o600 });
  const sends = Array.from({ length: 8 }, (_, index) =>
    urtuu('sms', 'send', `9911000${index}`, 'hi', '--idempotency-key', `k-${index}`),
  );
  const looks = Array.from({ length: 8 }, () => urtuu('history', '--json'));
  const codes = (await Promise.all([...sends, ...looks])).map(({ code }) => code);
  expect(codes).toEqual(Array(16).fill(0));
  const keys = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).key);
  expect(keys.sort()).toEqual(['a', 'b', ...sends.map((_, index) => `k-${index}`)]);
});
