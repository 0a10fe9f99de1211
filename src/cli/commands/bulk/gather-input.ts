import type { Channel } from '../../../contract/index.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { required, type Wanted } from '../../input/required.js';
import { readText } from '../../input/text.js';
import type { BulkOptions } from './options.js';
import { refuseSameFile } from './same-file.js';

export interface BulkInput {
  file: string;
  templates: MessageTemplates;
}

/**
 * Gathers the file and the message from arguments, options and prompts. Throws CliError (exit 2) that names
 * everything missing where it cannot prompt.
 */
export async function gatherInput(
  { io, config, options: { yes } }: Pick<Context, 'io' | 'config' | 'options'>,
  channel: Channel,
  given: string | undefined,
  options: BulkOptions,
): Promise<BulkInput> {
  if (options.headerless && options.headerRow !== undefined)
    throw usageError('--headerless excludes --header-row', 'A file without a header has no row of names.');
  await io.files.checkWritable(options.report, options.rejects);
  const templates = await readTemplates(io.files, options);
  const { text, html, subject } = templates;
  const wanted: Record<string, Wanted> = { file: { value: given, name: '<file>', question: 'CSV file:' } };
  if (channel === 'email') wanted.subject = { value: subject, name: '--subject', question: 'Subject:' };
  if (html === undefined) {
    const name = channel === 'sms' ? '--text' : '--text or --html';
    wanted.text = { value: text, name, question: 'Text:' };
  }
  const confirmed = yes || options.dryRun || io.canPrompt;
  // When only the confirmation is missing, the error comes after the preflight.
  if (!confirmed && Object.values(wanted).some(({ value }) => value === undefined)) {
    wanted.confirmation = { value: undefined, name: '--yes or --dry-run', question: '' };
  }
  const { file = '', confirmation: _, ...rest } = await required(io, wanted);
  refuseSameFile(config, file, options);
  return { file, templates: { ...templates, ...rest } };
}

async function readTemplates(files: Context['io']['files'], options: BulkOptions): Promise<MessageTemplates> {
  const text = { value: options.text, file: options.textFile, name: '--text', fileOption: '--text-file' };
  const html = { value: options.html, file: options.htmlFile, name: '--html', fileOption: '--html-file' };
  return {
    text: await readText(files, text),
    html: await readText(files, html),
    subject: options.subject,
    fromName: options.fromName,
    replyTo: options.replyTo,
  };
}
