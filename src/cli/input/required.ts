import { usageError } from '../errors.js';
import type { Io } from '../io.js';

type PromptIo = Pick<Io, 'canPrompt' | 'prompts'>;

/** A value a command cannot do without. */
export interface Wanted {
  /** What was given. */
  value: string | undefined;
  /** How it is given: `<to>`, `--subject`. */
  name: string;
  /** What to ask on a terminal. */
  question: string;
  secret?: boolean;
}

const notEmpty = (value: string) => value.trim() !== '' || 'It cannot be empty.';

/** The values, those that are missing asked for on a terminal; elsewhere an error that names all of them. */
export async function required<Name extends string>(
  io: PromptIo,
  wanted: Record<Name, Wanted>,
): Promise<Record<Name, string>> {
  const entries = Object.entries<Wanted>(wanted);
  const missing = entries.filter(([, { value }]) => value === undefined);
  if (missing.length > 0 && !io.canPrompt) {
    const names = missing.map(([, { name }]) => name).join(', ');
    throw usageError(`missing: ${names}`, 'There is no terminal to ask at, so every value has to be given.');
  }
  const values: Record<string, string> = {};
  for (const [key, { value, question, secret }] of entries) {
    values[key] = value ?? (await ask(io, question, secret === true));
  }
  return values as Record<Name, string>;
}

async function ask(io: PromptIo, question: string, secret: boolean): Promise<string> {
  const questions = await io.prompts();
  return secret ? questions.secret(question) : questions.text(question, notEmpty);
}

/** Asks before what cannot be undone; `--yes` answers, and elsewhere than at a terminal it has to. */
export async function confirmed(
  { io, options }: { io: PromptIo; options: { yes?: boolean } },
  question: string,
): Promise<void> {
  if (options.yes) return;
  if (!io.canPrompt) {
    throw usageError('there is no terminal to ask at', 'Add --yes to go on without the question.');
  }
  const questions = await io.prompts();
  if (!(await questions.confirm(question))) throw usageError('declined', 'Nothing was done.');
}
