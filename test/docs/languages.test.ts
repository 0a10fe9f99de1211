import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { python } from '../peers/programs.js';
import { Machine, outcomeOf, root } from '../support/binary.js';

interface Language {
  file: string;
  command: readonly [program: string, ...args: string[]];
  /** Ends with 0 where the language and its tests are there. */
  probe: readonly string[];
  debianPackage: string;
  passed: RegExp;
}

const languages: Language[] = [
  {
    file: 'login_code_test.py',
    command: [python, '-m', 'pytest', '-p', 'no:cacheprovider'],
    probe: ['-m', 'pytest', '--version'],
    debianPackage: 'python3-pytest',
    passed: /\b2 passed\b/,
  },
  {
    file: 'LoginCodeTest.php',
    command: ['phpunit', '--do-not-cache-result'],
    probe: ['--version'],
    debianPackage: 'phpunit',
    passed: /OK \(2 tests/,
  },
  {
    file: 'login_code_test.go',
    command: ['go', 'test', '-count=1', '-v'],
    probe: ['version'],
    debianPackage: 'golang-go',
    passed: /--- PASS: TestLoginCode\/each_login_has_its_own_code/,
  },
];

it.for(languages)('examples/$file passes', { timeout: 120_000 }, async (language, { skip }) => {
  const { file, command, probe, debianPackage, passed } = language;
  const [program, ...args] = command;
  if (spawnSync(program, probe).status !== 0)
    return skip(`${debianPackage} is missing: apt-get install ${debianPackage}`);
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const programs = join(machine.home, 'bin');
  const urtuu = join(programs, 'urtuu');
  mkdirSync(programs);
  writeFileSync(urtuu, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/urtuu.js')}' "$@"\n`);
  chmodSync(urtuu, 0o755);
  copyFileSync(join(root, 'examples', file), join(machine.home, file));
  const env = machine.environment({ PATH: `${programs}:${process.env.PATH}`, TMPDIR: machine.home });
  const child = spawn(program, [...args, file], {
    cwd: machine.home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  expect(stdout).toMatch(passed);
});
