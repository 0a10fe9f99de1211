import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';
import { noTmux, Tmux } from './tmux.js';

const machine = emptyMachine();
let tmux: Tmux;
beforeEach(() => {
  tmux = new Tmux();
});
afterEach(() => tmux.close());

it.skipIf(noTmux() !== null)('leaves nothing of its frames above a screen that was empty', async () => {
  const list = join(machine.home, 'list.csv');
  execFileSync('mkfifo', [list]);
  const words = ['sms', 'bulk', list, '--text', 'Hi', '--dry-run', '--sandbox'];
  const pane = await tmux.open(
    [process.execPath, join(root, 'bin/urtuu.js'), ...words],
    machine.environment(),
  );
  await pane.until(/Reading the file/);
  writeFileSync(list, 'phone\n99112233\n');
  expect(await pane.ended()).toMatchObject({ code: 0 });
  expect(await pane.until(/Recipients/)).toMatch(/^Job /);
});
