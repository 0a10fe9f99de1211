import { inputError, usageError } from '../errors.js';
import type { Io } from '../io.js';

type PromptIo = Pick<Io, 'canPrompt' | 'prompts'>;

/** True, or why a value is refused. */
export type Check = (value: string) => true | string;

/** A required value. */
export interface Wanted {
  value: string | undefined;
  /** Its argument or option: `<to>`, `--subject`. */
  name: string;
  question: string;
  secret?: boolean;
  /** Checked before the next prompt. */
  check?: Check;
}

const notEmpty: Check = (value) => value.trim() !== '' || 'It cannot be empty.';

/**
 * Prompts for the missing values. Throws CliError: exit 2 with all missing ones if it cannot prompt, 8 for an invalid
 * value before the first prompt.
 */
export async function required<Name extends string>(
  io: PromptIo,
  wanted: Record<Name, Wanted>,
): Promise<Record<Name, string>> {
  const entries = Object.entries<Wanted>(wanted);
  const missing = entries.filter(([, { value }]) => value === undefined);
  if (missing.length > 0 && !io.canPrompt) {
    const names = missing.map(([, { name }]) => name).join(', ');
    throw usageError(`missing: ${names}`, 'Without a terminal urtuu never prompts: pass every value.');
  }
  if (missing.length > 0) for (const [, each] of entries) refuseWrong(each);
  const values: Record<string, string> = {};
  for (const [key, each] of entries) values[key] = each.value ?? (await ask(io, each));
  return values as Record<Name, string>;
}

/** Otherwise every prompt would be answered in vain. */
function refuseWrong({ value, check = () => true }: Wanted): void {
  const verdict = value === undefined || check(value);
  if (verdict !== true) throw inputError(verdict, 'Nothing was sent.');
}

/** Prompts until the value is valid. */
export async function ask(
  io: PromptIo,
  { question, secret, check = () => true }: Pick<Wanted, 'question' | 'secret' | 'check'>,
): Promise<string> {
  const questions = await io.prompts();
  return questions[secret ? 'secret' : 'text'](question, (value) => {
    const filled = notEmpty(value);
    return filled === true ? check(value) : filled;
  });
}

/** Asks for confirmation, unless `--yes` is given. Throws CliError (exit 2) if declined, or if it cannot prompt. */
export async function confirmed(
  { io, options }: { io: PromptIo; options: { yes?: boolean } },
  question: string,
): Promise<void> {
  if (options.yes) return;
  if (!io.canPrompt) {
    throw usageError('cannot ask for confirmation without a terminal', 'Add --yes to skip the question.');
  }
  const questions = await io.prompts();
  if (!(await questions.confirm(question))) throw usageError('declined', 'Nothing was done.');
}

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
