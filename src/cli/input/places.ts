import { usageError } from '../errors.js';

/**
 * Values given as arguments or as options. An argument fills the first place whose option is not given. Throws
 * CliError (exit 2) for an extra argument.
 */
export function fillPlaces(
  given: readonly (string | undefined)[],
  options: Readonly<Record<`--${string}`, string | undefined>>,
): (string | undefined)[] {
  const rest = given.filter((word) => word !== undefined);
  const filled = Object.values(options).map((value) => value ?? rest.shift());
  if (rest.length === 0) return filled;
  const names = Object.keys(options).filter((name) => options[name as `--${string}`] !== undefined);
  throw usageError(`too many arguments besides ${names.join(' and ')}`, 'Give each value once.');
}
