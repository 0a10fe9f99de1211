import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Machine, type Outcome, outcomeOf, root } from '../support/binary.js';

/** A clone after `npm ci`, on a machine that never ran urtuu. */
export interface FreshCopy extends Disposable {
  type(line: string): Promise<Outcome>;
}

export function freshCopy(): FreshCopy {
  const machine = new Machine();
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-copy-'));
  for (const part of ['bin', 'dist', 'examples', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'commands'));
  symlinkSync(join(folder, 'bin/urtuu.js'), join(folder, 'commands/urtuu'));
  const env = { PATH: `${join(folder, 'commands')}:${process.env.PATH}`, HOME: machine.home };
  return {
    type: (line) =>
      outcomeOf(spawn('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })),
    [Symbol.dispose]() {
      machine.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const start = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - start) / 1_000 };
}
