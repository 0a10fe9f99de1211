import { FileError, InputError } from '../../../bulk/input/input-error.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { Context } from '../../../context.js';
import { inputError, usageError } from '../../../errors.js';
import { maskedText } from '../../../output/mask.js';
import { visible } from '../../../terminal/sanitise.js';
import { counted } from '../../../text/wording.js';
import type { BulkOptions } from '../options.js';

/** Encodings of spreadsheets in Mongolia, besides Unicode. */
const encodings = ['windows-1251', 'windows-1252', 'koi8-r'];

/** A person who filtered a list may have meant to send only to the visible rows. */
export async function wantsVisibleOnly(
  io: Context['io'],
  { sheet, hiddenRows }: Pick<PlanOutcome, 'sheet' | 'hiddenRows'>,
): Promise<boolean> {
  const question = `Sheet ${visible(sheet ?? '')} has ${counted(hiddenRows, 'hidden row')}. Which rows should be sent?`;
  const choices = [
    { name: 'Only the visible rows', value: true },
    { name: 'All rows', value: false },
  ];
  return (await io.prompts()).choose(question, choices);
}

/** Asks for the missing option after an InputError. Throws CliError (2 or 8) without a terminal or a choice. */
export async function askAboutInput(
  io: Context['io'],
  error: unknown,
  file: string,
  options: BulkOptions,
): Promise<Pick<BulkOptions, 'encoding' | 'sheet'>> {
  if (!(error instanceof InputError)) throw error;
  if (error.kind === 'options') throw usageError(error.message, error.hint);
  const asks = file !== '-' && io.canPrompt;
  if (asks && error instanceof FileError && error.sheets.length > 0) {
    const choices = error.sheets.map((name) => ({ name: visible(name), value: name }));
    return {
      sheet: await (await io.prompts()).choose(
        `${visible(error.message)}. Which sheet should be sent?`,
        choices,
      ),
    };
  }
  if (asks && error.kind === 'encoding' && options.encoding === undefined) {
    // Never guessed: a wrong encoding shows only in the texts.
    const choices = encodings.map((value) => ({ name: value, value }));
    return {
      encoding: await (await io.prompts()).choose(`${error.message}. Which encoding is it?`, choices),
    };
  }
  const shown = io.printer.mask ? maskedText : (text: string) => text;
  throw inputError(shown(error.message), shown(error.hint));
}
