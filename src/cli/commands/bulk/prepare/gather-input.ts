import type { Channel } from '../../../../contract/index.js';
import { refuseJobName } from '../../../bulk/job/job-of-plan.js';
import type { MessageTemplates } from '../../../bulk/plan/composer.js';
import type { Context } from '../../../context.js';
import { usageError } from '../../../errors.js';
import { required, type Wanted } from '../../../input/required.js';
import { readText, textSource } from '../../../input/text.js';
import { type BulkOptions, isOnPurpose } from '../options.js';
import { refuseSameFile } from '../same-file.js';
import { type Likened, likenedTemplates } from './like.js';
import { columnsOf, type Header, questionFor } from './read-header.js';

export interface BulkInput {
  file: string;
  templates: MessageTemplates;
  /** Options chosen at prompts. */
  chosen: Header['chosen'];
}

/**
 * Gathers the file and the message from arguments, options and prompts; `look` reads the file's header before anybody
 * writes a message for it. If it cannot prompt, it throws CliError (exit 2) with everything that is missing.
 */
export async function gatherInput(
  { io, config, options: { yes } }: Pick<Context, 'io' | 'config' | 'options'>,
  channel: Channel,
  given: string | undefined,
  { options, source }: Likened,
  look: (file: string) => Promise<Header>,
): Promise<BulkInput> {
  if (options.headerless && options.headerRow !== undefined)
    throw usageError(
      '--headerless cannot be combined with --header-row',
      'A file without a header has no row of column names.',
    );
  if (options.hold && options.dryRun)
    throw usageError('--hold cannot be combined with --dry-run', 'Use one of the two.');
  refuseJobName(options.job);
  await io.files.checkWritable(options.report, options.rejects);
  const templates = likenedTemplates(await readTemplates(io.files, options), source);
  const { text, html, subject } = templates;
  const wanted: Record<string, Wanted> = { file: { value: given, name: '<file>', question: 'CSV file:' } };
  if (channel === 'email') wanted.subject = { value: subject, name: '--subject', question: 'Subject' };
  if (html === undefined) {
    const name = channel === 'sms' ? '--text' : '--text or --html';
    wanted.text = { value: text, name, question: 'Text' };
  }
  const confirmed = yes || options.dryRun || options.hold || io.canPrompt;
  // If only the confirmation is missing, the error comes after the preflight.
  const isComplete = Object.values(wanted).every(({ value }) => value !== undefined);
  if (!confirmed && !isComplete) {
    wanted.confirmation = { value: undefined, name: '--yes or --dry-run', question: '' };
  }
  if (needsAcceptance({ io, yes }, options)) {
    if (io.canPrompt || isComplete) throw mayDuplicate();
    wanted.duplicates = { value: undefined, name: '--accept-duplicates', question: '' };
  }
  const chosen = io.canPrompt && !isComplete ? await askedWith(wanted, look, io) : {};
  const { file = '', confirmation: _, duplicates: __, ...rest } = await required(io, wanted);
  if (file === '-' && options.only?.includes('unknown'))
    throw usageError(
      '--only unknown reads the report twice, and standard input can be read only once',
      'Name the file.',
    );
  refuseSameFile(config, file, options);
  refuseSelection(file, options);
  return { file, templates: { ...templates, ...rest }, chosen };
}

/** Throws CliError (exit 2) for options that select no rows together. */
function refuseSelection(file: string, { exclude, excludeColumn, first, only }: BulkOptions): void {
  if (excludeColumn !== undefined && exclude === undefined)
    throw usageError('--exclude-column needs --exclude', 'Name the list: --exclude FILE.');
  if (exclude === '-' && (file === '-' || only?.includes('unknown')))
    throw usageError('standard input can be read only once', 'Name the file of --exclude.');
  if (first !== undefined && isOnPurpose(only))
    throw usageError(
      `--first and --only ${only} cannot be combined`,
      'No later command could leave out the first ones. To choose rows of a report, use --where.',
    );
}

/** Asks for the file, so that the prompts for the message can show its columns. */
async function askedWith(
  wanted: Record<string, Wanted>,
  look: (file: string) => Promise<Header>,
  io: Context['io'],
): Promise<Header['chosen']> {
  const { file: asked, ...message } = wanted;
  if (asked === undefined) return {};
  const { file } = await required(io, { file: asked });
  asked.value = file;
  const { columns, chosen } = await look(file);
  for (const [label, each] of Object.entries(message)) {
    each.question = questionFor(each.question, columns);
    each.check = columnsOf(label, columns);
  }
  return chosen;
}

/** Throws CliError (exit 2) for `--accept-duplicates` if nothing can be sent twice. */
function needsAcceptance(
  { io, yes }: { io: Pick<Context['io'], 'canPrompt'>; yes: boolean | undefined },
  { only, acceptDuplicates, dryRun, hold }: BulkOptions,
): boolean {
  const mayRepeat = only?.includes('unknown') ?? false;
  if (acceptDuplicates && !mayRepeat)
    throw usageError('--accept-duplicates needs --only unknown', 'Remove it.');
  // The prompt warns of this again, because --yes becomes a habit.
  const asks = io.canPrompt && !yes && !hold;
  return mayRepeat && !acceptDuplicates && !dryRun && !asks;
}

const mayDuplicate = () =>
  usageError(
    '--only unknown may send the message to people who already have it',
    'Add --accept-duplicates to accept that.',
  );

async function readTemplates(files: Context['io']['files'], options: BulkOptions): Promise<MessageTemplates> {
  return {
    text: await readText(files, textSource(options)),
    html: await readText(files, textSource(options, 'html')),
    subject: options.subject,
    fromName: options.fromName,
    replyTo: options.replyTo,
  };
}
