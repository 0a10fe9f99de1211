import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Files } from '../input/files.js';
import type { KeySource } from './settings.js';

/** The API key from where it is kept. No error names the key, or what a command printed. */
export async function readKey(source: KeySource, files: Files, platform: NodeJS.Platform): Promise<string> {
  if (source.kind === 'none') {
    throw new CliError('no_key', exits.key, 'there is no API key', {
      hint: 'Set URTUU_API_KEY, add --sandbox to try without one, or run: `urtuu login`',
    });
  }
  const text =
    source.kind === 'file'
      ? await files.text(source.file)
      : source.kind === 'command'
        ? await printed(source.command, platform)
        : source.key;
  return checkedKey(text);
}

/** One line without spaces, as it goes into a header. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CliError('no_key', exits.key, key === '' ? 'the API key is empty' : 'the API key is malformed', {
    hint: 'A key is one line of letters, digits and signs, without spaces.',
  });
}

async function printed(command: string, platform: NodeJS.Platform): Promise<string> {
  const shell = platform === 'win32' ? (['cmd', '/d', '/s', '/c'] as const) : (['/bin/sh', '-c'] as const);
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  try {
    const [file, ...flags] = shell;
    const { stdout } = await promisify(execFile)(file, [...flags, command], { timeout: 60_000 });
    return stdout.split('\n', 1)[0] ?? '';
  } catch {
    // The error of execFile holds the command's output.
    throw new CliError('no_key', exits.key, "the profile's key_command failed", {
      hint: 'Run the command by hand to see why; it is in the profile: urtuu profiles show',
    });
  }
}
