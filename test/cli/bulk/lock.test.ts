import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockFolder } from '../../../src/cli/bulk/lock.js';

const root = mkdtempSync(join(tmpdir(), 'urtuu-lock-'));
afterAll(() => rmSync(root, { recursive: true }));

const holder = join(root, 'holder.mjs');
beforeAll(async () => {
  await build({
    stdin: {
      contents: `import { lockFolder } from './src/cli/bulk/lock.ts';
        const lock = await lockFolder(process.argv[2], process.argv[3]);
        console.log(lock.held ? 'held' : 'busy');
        setInterval(() => {}, 1000);`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: holder,
  });
});

// `linux` takes a name in the kernel, `darwin` a socket file: both can run here.
describe.each(['linux', 'darwin'] as const)('the lock of a job on %s', (platform) => {
  it('is held by one process at a time, and says which', async () => {
    const first = await lockFolder(root, platform);
    expect(first.held).toBe(true);
    expect(await lockFolder(root, platform)).toEqual({ held: false, pid: process.pid });
    if (first.held) await first.release();
    const again = await lockFolder(root, platform);
    expect(again.held).toBe(true);
    if (again.held) await again.release();
  });

  it('is freed by kill -9', async () => {
    const child = spawn(process.execPath, [holder, root, platform], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('held\n');
    expect(await lockFolder(root, platform)).toEqual({ held: false, pid: child.pid });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await lockFolder(root, platform);
    expect(lock.held).toBe(true);
    if (lock.held) await lock.release();
  });
});
