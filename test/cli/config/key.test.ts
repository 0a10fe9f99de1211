import { describe, expect, it } from 'vitest';
import { readKey } from '../../../src/cli/config/key.js';
import { Files } from '../../../src/cli/files/files.js';
import { platformOf } from '../../../src/cli/platform/platform.js';

const files = new Files(
  () => process.stdin,
  () => '/',
  { note: () => {}, sleep: async () => {} },
);
const read = (command: string, within?: number) =>
  readKey({ kind: 'command', command }, files, process.platform, within);

describe.runIf(process.platform !== 'win32')('a key_command', () => {
  it('gives its first line', async () => expect(await read('echo key; echo note')).toBe('key'));

  it.each([
    ['sleeps', 'sleep 30'],
    ['ignores being asked to end', "trap '' TERM; while true; do sleep 1; done"],
    ['leaves a process behind that keeps its output open', 'sleep 30 & wait'],
  ])('that %s is cut, and named', async (_, command) => {
    await expect(read(command, 150)).rejects.toMatchObject({
      code: 'no_key',
      exit: 4,
      message: "the profile's key_command did not end within 0.15 s",
    });
  });

  it.each(['exit 1', 'echo secret; exit 3', 'no-such-command-here', 'yes | head -c 3000000'])(
    'that fails is told, without what it printed: %s',
    async (command) => {
      await expect(read(command)).rejects.toMatchObject({
        message: "the profile's key_command failed",
        exit: 4,
      });
    },
  );
});

it('runs in the shell of each system', () => {
  expect(platformOf('linux').shell('pass show "a b"')).toEqual({
    file: '/bin/sh',
    words: ['-c', 'pass show "a b"'],
  });
  expect(platformOf('win32').shell('op read "a b"')).toEqual({
    file: 'cmd',
    words: ['/d', '/s', '/c', '"op read "a b""'],
  });
});
