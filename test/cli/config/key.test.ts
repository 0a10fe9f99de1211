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
  readKey({ kind: 'command', command, isSaved: true }, files, process.platform, within);

describe.runIf(process.platform !== 'win32')('a key_command', () => {
  it('gives its first line', async () => expect(await read('echo key; echo note')).toBe('key'));

  it('that reads its input finds it closed', async () => expect(await read('cat; echo key')).toBe('key'));

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

  it.each([
    ['exit 1', ''],
    ['echo secret; exit 3', ''],
    ['yes | head -c 3000000', ''],
    ['echo "pass: no such entry" >&2; echo more >&2; exit 1', ': pass: no such entry'],
    ['echo secret; echo "bad secret" >&2; exit 1', ': bad [hidden]'],
    ['echo "bad urtuu_abc" >&2; exit 1', ': bad [hidden]'],
    ['echo "key=A1b2C3d4E5f6G7h8I9j0K" >&2; exit 1', ': [hidden]'],
    [
      `printf 'x%.0s' $(seq 19) >&2; printf ' y%.0s' $(seq 300) >&2; exit 1`,
      `: ${'x'.repeat(19)}${' y'.repeat(90)} `,
    ],
  ])('that fails is named with its own words, but none that may be a key: %s', async (command, words) => {
    await expect(read(command)).rejects.toMatchObject({
      message: `the profile's key_command failed${words}`,
      exit: 4,
    });
  });

  it('that is not there is named by the shell', async () => {
    await expect(read('no-such-command-here')).rejects.toMatchObject({
      message: expect.stringMatching(/^the profile's key_command failed: .*no-such-command-here.*not found/),
    });
  });
});

it('runs in the shell of each system', () => {
  expect(platformOf('linux').shell('pass show "a b"')).toEqual({
    file: '/bin/sh',
    args: ['-c', 'pass show "a b"'],
  });
  expect(platformOf('win32').shell('op read "a b"')).toEqual({
    file: 'cmd',
    args: ['/d', '/s', '/c', '"op read "a b""'],
  });
});
