import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf, root } from '../support/binary.js';
import { groupOf, type Played } from './row.js';

const versions = JSON.parse(readFileSync(join(root, 'test/package/nodes.json'), 'utf8')) as string[];

function unreachable(): string | null {
  const isThere = (version: string) => existsSync(join(root, 'node_modules/.cache/node', version));
  if (versions.every(isThere)) return null;
  try {
    execFileSync('npm', ['ping'], { stdio: 'ignore', timeout: 20_000, shell: process.platform === 'win32' });
    return null;
  } catch {
    return 'npm cannot fetch the versions';
  }
}

async function play(what: string, script: string[], env: NodeJS.ProcessEnv = {}): Promise<Played> {
  const child = spawn(process.execPath, script, {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await outcomeOf(child);
  const summaries = stdout.split('\n').filter((line) => /^ *Tests /.test(line));
  const sumOf = (word: string) =>
    summaries.reduce((sum, line) => sum + Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0), 0);
  const failed = sumOf('failed');
  // Something went wrong before a test could.
  if (code !== 0 && failed === 0) throw new Error(`${script[0]}: ${stdout}${stderr}`);
  return {
    measured: `${what}: ${sumOf('passed') + failed} checks`,
    found: `${failed} failed`,
    wrong: failed,
  };
}

/** A Node.js as it was before the client could run on it. */
function nodeWithoutFetch(): string {
  const folder = join(root, 'node_modules/.cache/urtuu/torture');
  const file = join(folder, 'node-without-fetch');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' --no-experimental-fetch "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

/** The packed tarball, installed fresh, on every version of Node.js that is promised. */
export const nodes = groupOf('nodes', { full: {}, small: {} }, () => [
  {
    name: 'the package on every promised version of Node.js',
    takesMinutes: true,
    unavailable: unreachable,
    play: () => play(`Node.js ${versions.join(', ')}`, [join(root, 'test/package/nodes.js')]),
    controls: [
      {
        name: 'a Node.js without fetch',
        play: () =>
          play(
            'this Node.js',
            [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/package/package.test.ts'],
            { URTUU_TEST_NODE: nodeWithoutFetch() },
          ),
      },
    ],
  },
]);
