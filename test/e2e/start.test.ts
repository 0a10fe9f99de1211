import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Machine } from '../support/binary.js';

const writeLoaded = `const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const loaded = process.moduleLoadList.filter((module) => !before.has(module));
  require('node:fs').writeFileSync(process.env.LOADED, loaded.join('\\n'));
});`;

/** Modules that the command loads beyond those of any start of Node.js. */
async function loadedBy(args: string[]): Promise<string[]> {
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const hook = join(machine.home, 'hook.cjs');
  const loaded = join(machine.home, 'loaded');
  writeFileSync(hook, writeLoaded);
  const env = { NODE_OPTIONS: `--require=${hook}`, LOADED: loaded };
  expect(await machine.run(args, { env })).toMatchObject({ code: 0 });
  return readFileSync(loaded, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('NativeModule '))
    .map((line) => line.slice('NativeModule '.length));
}

// Milliseconds each, on Node.js 20: node:crypto 3, node:net 3, node:fs/promises 2, perf_hooks 1.
const expensive = [
  'child_process',
  'crypto',
  'fs/promises',
  'http',
  'net',
  'perf_hooks',
  'readline',
  'worker_threads',
];

it.each([['--version'], ['--help'], ['sms', 'send', '--help']])(
  'urtuu %s %s %s loads no expensive module',
  async (...args) => {
    const loaded = await loadedBy(args.filter((arg) => arg !== undefined));
    expect(loaded.filter((name) => expensive.includes(name))).toEqual([]);
  },
);

it.each([
  ['balance', '--sandbox'],
  ['sms', 'send', '99112233', 'hi', '--sandbox'],
])('urtuu %s %s: of these, the embedded service loads only crypto', async (...args) => {
  const loaded = await loadedBy(args);
  expect(loaded.filter((name) => expensive.includes(name))).toEqual(['crypto']);
});

it('20 sandbox sends leave a -wal that the next one reads in no time', async () => {
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const send = (number: number) => ['sms', 'send', `${99_110_000 + number}`, 'hi', '--sandbox'];
  for (let number = 0; number < 20; number += 1)
    expect(await machine.run(send(number))).toMatchObject({ code: 0 });
  // Node.js 26 closes the database at the exit, which removes it.
  const wal = statSync(join(machine.home, 'state/urtuu/sandbox/operator.db-wal'), { throwIfNoEntry: false });
  expect(wal?.size ?? 0).toBeLessThan(160_000);
});
