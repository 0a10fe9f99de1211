import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Files } from '../files/files.js';
import { platformOf } from '../platform/platform.js';
import type { KeySource } from './settings.js';

/** No error contains the key, or what a key_command printed instead of one. */
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
  if (source.kind === 'refused') throw source.error;
  const text =
    source.kind === 'file'
      ? await files.text(source.file)
      : source.kind === 'command'
        ? await outputOf(source, platform, within)
        : source.key;
  return checkedKey(text);
}

/** A key must fit into a header: one line without spaces. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (isKey(key) === true) return key;
  throw new CliError('no_key', exits.key, key === '' ? 'the API key is empty' : 'the API key is malformed', {
    hint: keyForm,
  });
}

/** True, or why a text is not a key. */
export const isKey = (text: string): true | string => /^[\x21-\x7e]+$/.test(text.trim()) || keyForm;
const keyForm = 'A key is one line of letters, digits and signs, without spaces.';

/** Includes the time to answer a password store's prompt. */
const keyCommandTimeout = 10_000;

async function outputOf(
  { command, isSaved }: Extract<KeySource, { kind: 'command' }>,
  platform: NodeJS.Platform,
  within: number,
): Promise<string> {
  const { file, args } = platformOf(platform).shell(command);
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    // The error of execFile contains the command and all its output, so it is not passed on.
    const options = { timeout: within, killSignal: 'SIGKILL', windowsVerbatimArguments: true } as const;
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout.split('\n', 1)[0] ?? '');
      const isLate = error.killed && error.code === null;
      const words = isLate ? '' : redacted(stderr, stdout);
      const what = isLate ? `did not end within ${within / 1_000} s` : `failed${words && `: ${words}`}`;
      reject(
        new CliError(
          'no_key',
          exits.key,
          `${isSaved ? "the profile's key_command" : '--key-command'} ${what}`,
          {
            hint: `Run the command by hand to see why.${isSaved ? ' It is in the profile: `urtuu profiles show`' : ''}`,
          },
        ),
      );
    });
    // A command that reads its input would wait for it.
    child.stdin?.end();
  });
}

const mostWords = 200;

/** The first line of an error output, without possible keys: words of the output, and long words with a digit. */
function redacted(error: string, output: string): string {
  const line = error.trim().split('\n', 1)[0] ?? '';
  const secrets = new Set(output.slice(0, 10_000).split(/\s+/).filter(Boolean));
  return line
    .split(/(\s+)/)
    .map((word) =>
      secrets.has(word) ? hidden : word.replace(/urtuu_\w+|(?=[\w+=-]*\d)[\w+=-]{20,}|[\w+=-]{40,}/g, hidden),
    )
    .join('')
    .slice(0, mostWords);
}
const hidden = '[hidden]';
