import type { Context } from '../context.js';
import { exits } from '../exit-codes.js';
import type { Failure } from '../failure.js';
import { visible, withoutKeys } from '../terminal/sanitise.js';

/** Longer commands are easier found in the history of the shell. */
const longest = 500;

/** The command that settles a send in doubt; null where there is none, or recipients are not to be shown. */
export async function repeatOf(
  context: Context,
  argv: readonly string[],
  { exit, idempotency_key: key }: Failure,
): Promise<string | null> {
  if (exit !== exits.doubt || typeof key !== 'string' || context.printer.mask) return null;
  return repeatCommand(argv, key, await accountOptions(context), context.platform);
}

/** What the environment or the profile in use chose: in another shell, or later, it may choose another account. */
async function accountOptions(context: Context): Promise<string[]> {
  const { options, env, sandbox } = context;
  if (sandbox) return options.sandbox ? [] : ['--sandbox'];
  const { baseUrl, profileName, key } = await context.settings();
  const fromEnv = options.baseUrl === undefined && env.URTUU_BASE_URL === baseUrl;
  // A profile that is named lends its key too, so only one whose key was used is.
  const ownKey = key.kind === 'stored' || key.kind === 'command';
  return [
    ...(fromEnv ? ['--base-url', baseUrl] : []),
    ...(options.profile === undefined && ownKey ? ['--profile', profileName] : []),
  ];
}

/**
 * The command line that repeats a send under its key; null where it would not be the same: its text came from
 * standard input, or it has characters that a terminal shows in another way.
 */
export function repeatCommand(
  argv: readonly string[],
  key: string,
  more: readonly string[],
  platform: NodeJS.Platform,
): string | null {
  if (argv.includes('-') || argv.some((word) => visible(word) !== word || withoutKeys(word) !== word))
    return null;
  const given = argv.some((word) => /^--idempotency-key(?:=|$)/.test(word));
  const added = [...more, ...(given ? [] : ['--idempotency-key', key])];
  const end = argv.indexOf('--');
  const words = end < 0 ? [...argv, ...added] : [...argv.slice(0, end), ...added, ...argv.slice(end)];
  const line = ['urtuu', ...words.map((word) => quoted(word, platform))].join(' ');
  return line.length > longest ? null : line;
}

/** As a shell takes it; on Windows that is PowerShell. */
function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:./-]+$/.test(word) && !word.startsWith('@')) return word;
  return `'${word.replaceAll("'", platform === 'win32' ? "''" : "'\\''")}'`;
}
