import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Machine, root } from '../support/binary.js';
import { testFolder } from '../support/folders.js';

const file = join(root, 'deploy/urtuu.service');
const unit = readFileSync(file, 'utf8');
const [, program = '', words = ''] = /^ExecStart=(\S+) (.*)$/m.exec(unit) ?? [];
/** Tenths of systemd's exposure, from 0 to 100: what is left is the network and the compiler of V8. */
const mostExposed = 15;

const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;
const analyzed = isThere ? '' : ' (left out: systemd-analyze is missing: apt-get install systemd)';

it('the unit has settings in its sections, and nothing else', () => {
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^(?:\[\w+\]|\w+=\S*.*)$/.test(line))).toEqual([]);
  expect(program).toBe('/usr/local/bin/urtuu');
});

it.runIf(isThere)(`systemd takes the unit as it is${analyzed}`, () => {
  const folder = testFolder();
  // Where this machine has the command.
  const here = join(folder, 'urtuu.service');
  writeFileSync(here, unit.replaceAll(program, join(root, 'bin/urtuu.js')));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', here], {
    encoding: 'utf8',
  });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});

it.runIf(isThere)(`systemd finds little exposed${analyzed}`, () => {
  const table = execFileSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', `--threshold=${mostExposed}`, file],
    { encoding: 'utf8' },
  );
  expect(table).toMatch(/Overall exposure level for urtuu\.service: 1\.\d OK/);
});

it('the command of the unit, and the one that its head suggests, have options that serve knows', async () => {
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const { stdout } = await machine.run(['serve', '--help']);
  const lines = [words, ...[...unit.matchAll(/^# +ExecStart=\/\S+ (.*)$/gm)].map(([, line = '']) => line)];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatch(/^serve /);
    for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(stdout).toContain(`${option} <`);
  }
});
