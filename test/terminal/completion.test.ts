import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Machine } from '../support/binary.js';
import { pty, shipped, Terminal } from './pseudoterminal.js';

const isThere = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

/** Names that lie in the folder of jobs, though none of them can be a job's. */
const strangers = [
  'two words',
  'q"uote',
  "sq'uote",
  '$(touch pwned)',
  '`touch pwned`',
  'semi;touch pwned',
  'new\nline',
  'co:lon',
  'back\\slash',
  '*',
  '~',
  '-dash',
  '@at',
  '\u001b[31m',
];
const urls = ['https://a.mn/$(touch pwned)/v1', 'https://a.mn/`touch pwned`;"\'%s:/v1'];

/** A shell of a person who has the completion, in a folder of its own. */
function shell(name: string): { terminal: Terminal; machine: Machine } {
  const machine = new Machine();
  const { home } = machine;
  const bin = join(home, 'bin');
  const config = join(home, 'config');
  for (const folder of [bin, join(config, 'urtuu'), join(config, 'fish/completions')])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [node, script] = shipped;
  writeFileSync(join(bin, 'urtuu'), `#!/bin/sh\nexec '${node}' '${script}' "$@"\n`, { mode: 0o755 });
  const env = machine.environment({ PATH: `${bin}:${process.env.PATH}`, LANG: 'C.UTF-8' });
  const completion = spawnSync('urtuu', ['completion', name], { env, encoding: 'utf8' }).stdout;
  writeFileSync(join(home, '.bashrc'), completion);
  writeFileSync(join(home, '.zshrc'), completion);
  writeFileSync(join(config, 'fish/completions/urtuu.fish'), completion);
  for (const job of ['plain-job', ...strangers])
    mkdirSync(join(home, 'state/urtuu/jobs', job), { recursive: true });
  const profiles = Object.fromEntries(urls.map((base_url, index) => [`profile-${index}`, { base_url }]));
  writeFileSync(join(config, 'urtuu/config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const program = [name, ...(name === 'bash' ? ['--rcfile', join(home, '.bashrc')] : []), '-i'];
  const terminal = new Terminal(machine, [], { env, program, columns: 100 });
  onTestFinished(() => {
    terminal.close();
    machine.remove();
  });
  return { terminal, machine };
}

describe.skipIf(pty === null)('the completion of a shell that is there', () => {
  it.each(['bash', 'zsh', 'fish'].filter(isThere))(
    'runs and offers nothing that lies around: %s',
    async (name) => {
      const { terminal, machine } = shell(name);
      const before = readdirSync(machine.home);
      terminal.type('echo rea""dy\r');
      await terminal.shows(/^ready/m);
      terminal.type('urtuu jobs show \t');
      await terminal.shows(/plain-job/);
      terminal.type('\u0015urtuu jobs show "$(touch pwned)" \'`touch pwned`\' \\$x --pro\t');
      await terminal.shows(/--profile/);
      terminal.type('pr\t\t\t');
      await terminal.shows(/touch pwned\)\/v1/);
      terminal.type('\u0015exit\r');
      const { screen } = await terminal.ended;
      for (const stranger of ['two words', 'co:lon', 'uote', '-dash', '@at', 'semi'])
        expect(screen).not.toContain(stranger);
      expect(
        readdirSync(machine.home).filter((file) => !before.includes(file) && file.startsWith('pwned')),
      ).toEqual([]);
    },
  );
});
