import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Machine, outcomeOf, root } from '../support/binary.js';
import { blocksOf } from './pages.js';

/** As a clone is after `npm ci`, on a machine that never ran urtuu. */
function freshCopy(): { type(line: string): ReturnType<typeof outcomeOf> } {
  const machine = new Machine();
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-copy-'));
  onTestFinished(() => {
    machine.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const part of ['bin', 'dist', 'examples', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'commands'));
  symlinkSync(join(folder, 'bin/urtuu.js'), join(folder, 'commands/urtuu'));
  const env = {
    PATH: `${join(folder, 'commands')}:${process.env.PATH}`,
    HOME: machine.home,
  };
  return {
    type: (line) =>
      outcomeOf(spawn('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })),
  };
}

const timed = async <T>(work: () => Promise<T>) => {
  const start = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - start) / 1_000 };
};

it.concurrent('the first message of the README is there within 10 seconds', async () => {
  const [block] = blocksOf('README.md').filter(({ language }) => language === 'console');
  const line = /^\$ (.*)$/m.exec(block?.code ?? '')?.[1] ?? '';
  expect(line).toMatch(/^urtuu sms send .* --sandbox$/);
  const { result, seconds } = await timed(() => freshCopy().type(line));
  expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^status +sent$/m) });
  expect(seconds).toBeLessThan(10);
});

it.concurrent('the bulk job of "Try it" sends all of its messages within 60 seconds, and none when it runs again', async () => {
  const [block] = blocksOf('README.md').filter(({ language }) => language === 'indented');
  const line = block?.code.trim().replace(/^npm ci && /, '') ?? '';
  expect(line).toMatch(/^node bin\/urtuu\.js sms bulk /);
  const copy = freshCopy();
  const { result, seconds } = await timed(() => copy.type(line));
  expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('2,600 sent; nothing in doubt') });
  expect(seconds).toBeLessThan(60);
  expect(await copy.type(line)).toMatchObject({ code: 11 });
}, 90_000);
