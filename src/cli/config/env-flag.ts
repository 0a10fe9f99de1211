import { usageError } from '../errors.js';

const on = new Set(['1', 'true', 'yes', 'on']);
const off = new Set(['', '0', 'false', 'no', 'off']);

/** Throws CliError for an unknown word: a guess could send to the wrong service. */
export function envFlag(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const word = (env[name] ?? '').trim().toLowerCase();
  if (on.has(word)) return true;
  if (off.has(word)) return false;
  throw usageError(`${name} is neither on nor off`, 'Use 1, true, yes or on; or 0, false, no or off.');
}
