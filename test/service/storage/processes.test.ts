import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isGone, thisProcess } from '../../../src/service/storage/shared/processes.js';

const [machine = ''] = thisProcess().split('.');
const ended = spawnSync(process.execPath, ['-e', '0']).pid;

it.each([
  ['this one', thisProcess(), false],
  ['one that ended', `${machine}.${ended}.1`, true],
  ['one of another machine', `other.${ended}.1`, false],
  ['one whose start nobody could read', `${machine}.${process.pid}.`, false],
  ['no process', '', false],
  ['no number', `${machine}.-1.1`, false],
])('%s', (_, holder, gone) => expect(isGone(holder)).toBe(gone));

it.runIf(process.platform === 'linux')('one whose number another has now', () => {
  expect(isGone(`${machine}.${process.pid}.1`)).toBe(true);
});

it.runIf(process.platform === 'linux')(
  'one that ended, and that its parent has not asked about',
  async () => {
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(line);
    const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
    const holder = `${machine}.${pid}.${fields()[21]}`;
    expect(isGone(holder)).toBe(false);
    // The shell has become the program that asks about no child.
    while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim() !== 'sleep')
      await new Promise(setImmediate);
    process.kill(pid, 'SIGKILL');
    while (fields()[2] !== 'Z') await new Promise(setImmediate);
    expect(isGone(holder)).toBe(true);
    parent.kill();
  },
);
