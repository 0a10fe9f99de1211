import type { Context } from '../context.js';
import { exits } from '../exit-codes.js';
import type { Failure } from '../failure.js';
import { visible, withoutKeys } from '../terminal/sanitise.js';

/** Longer commands are easier found in the history of the shell. */
const longest = 500;
/** Options that a printed command gets anew, so that it goes to the same account from any shell. */
const destination = ['--profile', '--base-url', '--api-key-file'];

/** The command that settles a send in doubt; null where there is none, or recipients are not to be shown. */
export function repeatOf(
  context: Context,
  argv: readonly string[],
  { exit, idempotency_key: key }: Failure,
): string | null {
  if (exit !== exits.doubt || typeof key !== 'string' || context.io.printer.mask) return null;
  const words = repeatWords(argv, key);
  const line = words === null ? null : context.config.commandLine(words);
  return line === null || line.length > longest ? null : line;
}

/**
 * The words that repeat a send under its key; null where they would not do the same: its text came from standard
 * input, or they have characters that a terminal shows in another way.
 */
export function repeatWords(argv: readonly string[], key: string): string[] | null {
  if (argv.includes('-') || argv.includes('--')) return null;
  if (argv.some((word) => visible(word) !== word || withoutKeys(word) !== word)) return null;
  const words = argv.filter(
    (word, index) =>
      word !== '--sandbox' &&
      !destination.includes(word) &&
      !destination.includes(argv[index - 1] ?? '') &&
      !destination.some((name) => word.startsWith(`${name}=`)),
  );
  const given = words.some((word) => /^--idempotency-key(?:=|$)/.test(word));
  return given ? words : [...words, '--idempotency-key', key];
}
