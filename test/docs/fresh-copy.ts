import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Machine, outcomeOf, root } from '../support/binary.js';

/** As a clone is after `npm ci`, on a machine that never ran urtuu. */
export function freshCopy(): { type(line: string): ReturnType<typeof outcomeOf> } {
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

export const timed = async <T>(work: () => Promise<T>) => {
  const start = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - start) / 1_000 };
};
