import { usageError } from '../errors.js';
import type { Io } from '../io.js';

type PromptIo = Pick<Io, 'canPrompt' | 'prompts'>;

/** A required value. */
export interface Wanted {
  value: string | undefined;
  /** Its argument or option: `<to>`, `--subject`. */
  name: string;
  question: string;
  secret?: boolean;
}

const notEmpty = (value: string) => value.trim() !== '' || 'It cannot be empty.';

/** Prompts for the missing values. Throws CliError (exit 2) that names all of them where it cannot prompt. */
export async function required<Name extends string>(
  io: PromptIo,
  wanted: Record<Name, Wanted>,
): Promise<Record<Name, string>> {
  const entries = Object.entries<Wanted>(wanted);
  const missing = entries.filter(([, { value }]) => value === undefined);
  if (missing.length > 0 && !io.canPrompt) {
    const names = missing.map(([, { name }]) => name).join(', ');
    throw usageError(`missing: ${names}`, 'Without a terminal it never prompts: give every value.');
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

/** Asks for confirmation, unless `--yes` is given. Throws CliError (exit 2) when declined, or where it cannot prompt. */
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
