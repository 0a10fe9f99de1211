import { inputError, usageError } from '../errors.js';
import { type Files, nameOf } from '../files/files.js';

/** The two sources of a text: a value (`-` is standard input) and a file. */
export interface TextSource {
  value: string | undefined;
  file: string | undefined;
  /** The argument or option of the value: `[text]`, `--html`. */
  name: string;
  fileOption: string;
}

/** The source for `--text` and `--text-file`, or for `--html` and `--html-file`. */
export const textSource = (
  options: { [Option in 'text' | 'textFile' | 'html' | 'htmlFile']?: string | undefined },
  name: 'text' | 'html' = 'text',
): TextSource => ({
  value: options[name],
  file: options[`${name}File`],
  name: `--${name}`,
  fileOption: `--${name}-file`,
});

/** The option of a text that is sent, or priced, as an SMS. */
export const gsmOption = [
  '--gsm',
  'replace the quotes, dashes and blanks that the GSM alphabet lacks',
] as const;

/**
 * Reads a text without the final line end, which editors and `echo` add; undefined if it is not given. Throws
 * CliError: exit 2 if both sources are given, 8 for an empty text.
 */
export async function readText(files: Pick<Files, 'text'>, source: TextSource): Promise<string | undefined> {
  const { value, file, name, fileOption } = source;
  if (value !== undefined && file !== undefined) {
    throw usageError(`${name} and ${fileOption} cannot be combined`, 'Use one of the two.');
  }
  const from = file ?? (value === '-' ? '-' : undefined);
  const text = from === undefined ? value : (await files.text(from)).replace(/\r?\n$/, '');
  if (text !== undefined && text.trim() === '') {
    const what = from === undefined ? 'the text is empty' : `the text from ${nameOf(from)} is empty`;
    throw inputError(what, 'Nothing was sent.');
  }
  return text;
}
