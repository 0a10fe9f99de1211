// Writes docs/bulk.svg, or the file given: a bulk job of the built command on a real terminal. Needs tmux.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { terminalSvg } from './terminal-svg.js';

const root = resolve(import.meta.dirname, '..');
const file = process.argv[2] ?? join(root, 'docs/bulk.svg');
const columns = 88;
const patience = 30_000;
const line = "urtuu sms bulk customers.csv --text 'Сайн уу, {name}!' --job july --sandbox --wait";

const home = mkdtempSync(join(tmpdir(), 'urtuu-picture-'));
const tmux = (...args) =>
  promisify(execFile)('tmux', ['-S', join(home, 'tmux'), '-f', '/dev/null', ...args]).then(
    ({ stdout }) => stdout,
  );

async function until(pattern) {
  for (const end = Date.now() + patience; ; await sleep(50)) {
    const plain = (await tmux('capture-pane', '-p')).trimEnd();
    if (pattern.test(plain)) return;
    if (Date.now() > end) throw new Error(`${pattern} did not come:\n${plain}`);
  }
}

async function screenOfJob() {
  mkdirSync(join(home, 'bin'));
  copyFileSync(join(root, 'examples/customers.csv'), join(home, 'customers.csv'));
  const command = join(home, 'bin/urtuu');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/urtuu.js')}' "$@"\n`);
  chmodSync(command, 0o755);
  const env = {
    HOME: home,
    PATH: [join(home, 'bin'), process.env.PATH].join(delimiter),
    TERM: 'tmux-256color',
    LANG: 'C.UTF-8',
    PS1: '\\[\\e[32m\\]$\\[\\e[0m\\] ',
    HISTFILE: '',
  };
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const shell = ['env', '-i', ...pairs, 'bash', '--noprofile', '--norc'];
  await tmux('new-session', '-d', '-x', String(columns), '-y', '60', '-c', home, ...shell);
  await until(/^\$$/);
  await tmux('send-keys', '-l', line);
  await tmux('send-keys', 'Enter');
  await until(/\(y\/N\)/);
  await tmux('send-keys', 'y', 'Enter');
  await until(/\n\$$/);
  // Without the prompt at the end.
  return (await tmux('capture-pane', '-e', '-p')).trimEnd().split('\n').slice(0, -1).join('\n');
}

try {
  const picture = terminalSvg(await screenOfJob(), {
    columns,
    title: 'A bulk job on a terminal',
    description:
      'The command checks a list of 100 customers, shows the price, asks, and sends each one message.',
  });
  writeFileSync(file, picture);
} finally {
  await tmux('kill-server').catch(() => {});
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
