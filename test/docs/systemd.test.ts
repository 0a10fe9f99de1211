import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Machine, root } from '../support/binary.js';
import { testFolder } from '../support/folders.js';

/** Each with the start of its command, and how many lines start one: it, and what its head suggests. */
const units = [
  { name: 'urtuu.service', command: ['serve'], lines: 2 },
  { name: 'urtuu-events.service', command: ['events', 'listen'], lines: 2 },
].map((each) => {
  const file = join(root, 'deploy', each.name);
  return { ...each, file, unit: readFileSync(file, 'utf8') };
});
const program = '/usr/local/bin/urtuu';
/** Tenths of systemd's exposure, from 0 to 100: what is left is the network and the compiler of V8. */
const mostExposed = 15;

const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;
const analyzed = isThere ? '' : ' (left out: systemd-analyze is missing: apt-get install systemd)';

it.each(units)('$name has settings in its sections, and nothing else', ({ unit }) => {
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^(?:\[\w+\]|\w+=\S*.*)$/.test(line))).toEqual([]);
  expect(unit).toContain(`\nExecStart=${program} `);
});

it.runIf(isThere).each(units)(`systemd takes $name as it is${analyzed}`, ({ name, unit }) => {
  const folder = testFolder();
  // Where this machine has the command.
  const here = join(folder, name);
  writeFileSync(here, unit.replaceAll(program, join(root, 'bin/urtuu.js')));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', here], {
    encoding: 'utf8',
  });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});

it.runIf(isThere).each(units)(`systemd finds little exposed by $name${analyzed}`, ({ name, file }) => {
  const table = execFileSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', `--threshold=${mostExposed}`, file],
    { encoding: 'utf8' },
  );
  expect(table).toContain(`Overall exposure level for ${name}: 1.`);
});

it.each(units)(
  'the command of $name, and those that its head suggests, have options that it knows',
  async ({ unit, command, lines: count }) => {
    const machine = new Machine();
    onTestFinished(() => machine.remove());
    const { stdout } = await machine.run([...command, '--help']);
    const lines = [...unit.matchAll(/^(?:# +)?ExecStart=\/\S+ (.*)$/gm)].map(([, line = '']) => line);
    expect(lines).toHaveLength(count);
    for (const line of lines) {
      expect(line.split(' ').slice(0, command.length)).toEqual(command);
      for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(stdout).toContain(`${option} <`);
    }
  },
);
