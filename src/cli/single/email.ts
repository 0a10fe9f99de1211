import type { Command } from 'commander';
import type { EmailSendParams } from '../../contract/index.js';
import { checkAddress, readRecipient } from '../input/recipients.js';
import { required } from '../input/required.js';
import { readText, textSource } from '../input/text.js';
import type { Io } from '../io.js';

export interface ContentOptions {
  subject?: string;
  text?: string;
  textFile?: string;
  html?: string;
  htmlFile?: string;
  fromName?: string;
  replyTo?: string;
}

/** Adds the options for the content of an email, or of one for each row of a list. */
export function addContentOptions(command: Command, { isForRows = false } = {}): void {
  const [inserts, escapes] = isForRows
    ? ['; {column} inserts a value of the row', '; {column} inserts a value, escaped']
    : ['; - reads standard input', '; - reads standard input'];
  command
    .option('--subject <subject>', `subject, one line of up to 255 characters${isForRows ? inserts : ''}`)
    .option('--text <text>', `plain text${inserts}`)
    .option('--text-file <file>', 'read the plain text from a file')
    .option('--html <html>', `HTML body${escapes}`)
    .option('--html-file <file>', 'read the HTML body from a file')
    .option('--from-name <name>', "sender name (default: the project's brand name)")
    .option('--reply-to <address>', 'address for replies (default: that of the project)');
}

/** The email from the options; prompts for missing values on a terminal. */
export async function emailOf(
  io: Pick<Io, 'canPrompt' | 'prompts' | 'files'>,
  to: string | undefined,
  options: ContentOptions,
): Promise<EmailSendParams> {
  const { subject, fromName, replyTo } = options;
  const html = await readText(io.files, textSource(options, 'html'));
  const text = await readText(io.files, textSource(options));
  // An HTML body needs no plain text.
  const values = await required(io, {
    to: { value: to, name: '<to>', question: 'Recipient address:', check: checkAddress },
    subject: { value: subject, name: '--subject', question: 'Subject:' },
    text: {
      value: text ?? (html === undefined ? undefined : ''),
      name: '--text or --html',
      question: 'Text:',
    },
  });
  const rest = {
    to: readRecipient('address', values.to),
    subject: values.subject,
    ...(fromName === undefined ? {} : { from_name: fromName }),
    ...(replyTo === undefined ? {} : { reply_to: readRecipient('address', replyTo, '--reply-to: ') }),
  };
  if (html === undefined) return { ...rest, text: values.text };
  return { ...rest, html, ...(text === undefined ? {} : { text }) };
}
