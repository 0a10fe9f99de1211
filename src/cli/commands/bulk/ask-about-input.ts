import { FileError } from '../../bulk/input/file-error.js';
import { InputError } from '../../bulk/input/input-error.js';
import type { Context } from '../../context.js';
import { inputError, usageError } from '../../errors.js';
import { maskedText } from '../../output/mask.js';
import { visible } from '../../terminal/sanitise.js';
import type { BulkOptions } from './options.js';

/** What spreadsheets in Mongolia write when it is not Unicode. */
const encodings = ['windows-1251', 'windows-1252', 'koi8-r'];

/**
 * Asks for the option that an input cannot be read without. Throws CliError without a terminal, and where no option
 * helps.
 */
export async function askAboutInput(
  { io }: Context,
  error: unknown,
  file: string,
  options: BulkOptions,
): Promise<Pick<BulkOptions, 'encoding' | 'sheet'>> {
  if (!(error instanceof InputError)) throw error;
  if (error.fault === 'options') throw usageError(error.message, error.hint);
  const canAsk = file !== '-' && io.canPrompt;
  if (canAsk && error instanceof FileError && error.sheets.length > 0) {
    const choices = error.sheets.map((name) => ({ name: visible(name), value: name }));
    return { sheet: await (await io.prompts()).choose(`${visible(error.message)}. Which one?`, choices) };
  }
  if (canAsk && error.fault === 'encoding' && options.encoding === undefined) {
    // Never guessed: what is wrong shows only in the texts.
    const choices = encodings.map((value) => ({ name: value, value }));
    const questions = await io.prompts();
    return { encoding: await questions.choose(`${error.message}. Which encoding has it?`, choices) };
  }
  const { mask } = io.printer;
  throw inputError(
    mask ? maskedText(error.message) : error.message,
    mask ? maskedText(error.hint) : error.hint,
  );
}
