import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
const isUsual = process.platform === 'linux' && process.getBuiltinModule?.('node:sqlite') === undefined;

/** Names of the files that a command of the sandbox loads of the package for Node.js without SQLite. */
function loaded(env: NodeJS.ProcessEnv = {}): string[] {
  const list = join(machine.home, 'list.cjs');
  writeFileSync(
    list,
    `process.on('exit', () => process.stderr.write(Object.keys(require('module')._cache).join('\\n')));`,
  );
  const words = ['-r', list, join(root, 'bin/urtuu.js'), 'balance', '--sandbox', '--value', 'balance'];
  const run = spawnSync(process.execPath, words, { env: machine.environment(env), encoding: 'utf8' });
  expect(run).toMatchObject({ status: 0, stdout: '100000\n' });
  return run.stderr.split('\n').filter((file) => /[/\\](?:@photostructure|node-gyp-build)[/\\]/.test(file));
}

describe.runIf(isUsual)('the SQLite of a Node.js without one', () => {
  it('is the addon that the package chooses, opened without the package', () => {
    const chosen = loaded({ LIBC: 'glibc' });
    expect(chosen.length).toBeGreaterThan(1);
    expect(loaded()).toEqual(chosen.filter((file) => file.endsWith('.node')));
  });

  it.each(['PREBUILDS_ONLY', 'npm_config_platform'])('is chosen by the package where %s is set', (name) => {
    expect(loaded({ [name]: 'linux' }).some((file) => file.includes('node-gyp-build'))).toBe(true);
  });
});
