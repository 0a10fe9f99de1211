import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Files } from '../files/files.js';
import { platformOf } from '../platform/platform.js';
import type { KeySource } from './settings.js';

/** No error contains the key or the output of a key_command. */
export async function readKey(
  source: KeySource,
  files: Pick<Files, 'text'>,
  platform: NodeJS.Platform,
  within = keyCommandTimeout,
): Promise<string> {
  if (source.kind === 'none') {
    throw new CliError('no_key', exits.key, 'no API key', {
      hint: 'Set URTUU_API_KEY, add --sandbox to try without one, or run: `urtuu login`',
    });
  }
  const text =
    source.kind === 'file'
      ? await files.text(source.file)
      : source.kind === 'command'
        ? await outputOf(source.command, platform, within)
        : source.key;
  return checkedKey(text);
}

/** A key must fit into a header: one line without spaces. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CliError('no_key', exits.key, key === '' ? 'the API key is empty' : 'the API key is malformed', {
    hint: 'A key is one line of letters, digits and signs, without spaces.',
  });
}

/** Includes the time to answer the prompt of a password store. */
const keyCommandTimeout = 10_000;

async function outputOf(command: string, platform: NodeJS.Platform, within: number): Promise<string> {
  const { file, words } = platformOf(platform).shell(command);
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    // The error of execFile has the command's output, so nothing of it is passed on.
    const options = { timeout: within, killSignal: 'SIGKILL', windowsVerbatimArguments: true } as const;
    execFile(file, words, options, (error, stdout) => {
      if (error === null) return resolve(stdout.split('\n', 1)[0] ?? '');
      const what = error.killed && error.code === null ? `did not end within ${within / 1_000} s` : 'failed';
      reject(
        new CliError('no_key', exits.key, `the profile's key_command ${what}`, {
          hint: 'Run the command by hand to see why. It is in the profile: `urtuu profiles show`',
        }),
      );
    });
  });
}
