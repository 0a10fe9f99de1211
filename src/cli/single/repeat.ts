import type { Context } from '../context.js';
import { exits } from '../exit-codes.js';
import type { PrintedError } from '../printed-error.js';
import { visible, withoutKeys } from '../terminal/sanitise.js';

/** A longer command is easier to find in the shell history. */
const maxLength = 500;
/** `commandLine` adds these again, so that the command reaches the same account from any shell. */
const destinationOptions = ['--profile', '--base-url', '--api-key-file'];

/** The command that repeats a send in doubt under its key; null if there is none, or recipients are masked. */
export function repeatCommand(
  { io, config }: Pick<Context, 'io' | 'config'>,
  argv: readonly string[],
  { exit, idempotency_key: key }: PrintedError,
): string | null {
  if (exit !== exits.doubt || typeof key !== 'string' || io.printer.mask) return null;
  const words = repeatWords(argv, key);
  const line = words === null ? null : config.commandLine(words);
  return line === null || line.length > maxLength ? null : line;
}

/** Whether the words can be typed again: no text came from standard input, and a terminal shows them unchanged. */
export const isRepeatable = (words: readonly string[]): boolean =>
  words.every((word) => word !== '-' && visible(word) === word && withoutKeys(word) === word);

/**
 * Null if the words would not repeat the same send: its text came from standard input, or a terminal shows some
 * characters differently.
 */
export function repeatWords(argv: readonly string[], key: string): string[] | null {
  if (argv.includes('--') || !isRepeatable(argv)) return null;
  const words = argv.filter(
    (word, index) =>
      word !== '--sandbox' &&
      !destinationOptions.includes(word) &&
      !destinationOptions.includes(argv[index - 1] ?? '') &&
      !destinationOptions.some((name) => word.startsWith(`${name}=`)),
  );
  const given = words.some((word) => /^--idempotency-key(?:=|$)/.test(word));
  return given ? words : [...words, '--idempotency-key', key];
}
