import { inputError, usageError } from '../errors.js';
import type { Files } from '../files/files.js';

/** Where a text can come from: the value itself (`-` is standard input), or a file. */
export interface TextSource {
  value: string | undefined;
  file: string | undefined;
  /** How the value is given: `[text]`, `--html`. */
  name: string;
  /** How the file is given. */
  fileOption: string;
}

/**
 * A text from where the person says it is; undefined when nothing is given. The line end that editors and
 * `echo` put last is not part of it. An empty text is refused: nobody means to pay for one.
 */
export async function readText(files: Pick<Files, 'text'>, source: TextSource): Promise<string | undefined> {
  const { value, file, name, fileOption } = source;
  if (value !== undefined && file !== undefined) {
    throw usageError(`${name} and ${fileOption} exclude each other`, 'Give the text in one of the two ways.');
  }
  const from = file ?? (value === '-' ? '-' : undefined);
  const text = from === undefined ? value : (await files.text(from)).replace(/\r?\n$/, '');
  if (text !== undefined && text.trim() === '') {
    const origin = from === '-' ? 'standard input' : from;
    const what = origin === undefined ? 'the text is empty' : `the text from ${origin} is empty`;
    throw inputError(what, 'Nothing was sent.');
  }
  return text;
}
