import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
const parts = (...all: [type: string, body: string][]) =>
  `Content-Type: multipart/mixed; boundary=x\n\n${all.map(([type, body]) => `--x\nContent-Type: ${type}\n\n${body}\n`).join('')}--x--`;

it.skipIf(process.platform !== 'linux').each<[string, () => string]>([
  ['a million lines', () => `\n${'\n'.repeat(990_000)}`],
  ['450,000 parts', () => `Content-Type: multipart/mixed; boundary=x\n\n${'--x\n\n'.repeat(450_000)}`],
  [
    '36 MB that a page would escape',
    () => parts(['text/plain', '<'.repeat(18e6)], ['text/html', '<'.repeat(17e6)]),
  ],
  [
    'a mail of 33 MB',
    () => parts(['message/rfc822', `To: a@b.mn\n\n${`${'a'.repeat(76)}\n`.repeat(430_000)}`]),
  ],
])('a mail of nothing but %s takes urtuu service incoming less than 256 MB', async (_, rest) => {
  const peak = join(machine.home, 'peak');
  const probe = join(machine.home, 'probe.cjs');
  const status = `require('fs').readFileSync('/proc/self/status', 'utf8')`;
  writeFileSync(
    probe,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(peak)}, ${status}))`,
  );
  const env = { URTUU_SANDBOX: '1' };
  await machine.run(['service', 'settings', 'set', 'own_domain', 'shop.mn'], { env });
  await machine.run(['service', 'incoming', '--to', 'no-reply@shop.mn'], {
    env: { ...env, NODE_OPTIONS: `--require ${probe}` },
    input: `From: a@b.mn\n${rest()}`,
  });
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(peak, 'utf8')) ?? [];
  expect(Number(kilobytes)).toBeLessThan(256_000);
});
