import type { Channel } from '../../../contract/index.js';
import { isJobName } from '../../bulk/job/keys.js';
import type { JobView } from '../../bulk/job/open-job.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type {
  NextStep,
  PrintedCommand,
  PrintedOptions,
  PrintingOptions,
} from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { writtenDuration } from '../../input/duration.js';
import { visible } from '../../terminal/sanitise.js';
import { type BulkOptions, type CarryOutOptions, carryOutDefaults } from './options.js';

/** A text and the next step as a line for `note` and `warn`. */
export const inOne = (text: string, next?: NextStep): [text: string, command?: PrintedCommand] =>
  next === undefined ? [text] : [`${text} ${next[0]}`, next[1]];

export function resumeCommand(
  { config }: Pick<Context, 'config'>,
  id: string,
  options: PrintedOptions = {},
): PrintedCommand {
  return config.commandLine(['jobs', 'resume', id], options);
}

/** The command that sends the failed messages of a job again; a report would take the place of the job's own. */
export const retryCommand = (
  { config, options: { yes } }: Pick<Context, 'config' | 'options'>,
  id: string,
  options: PrintedOptions = {},
): PrintedCommand =>
  config.commandLine(['jobs', 'retry', id], { ...options, '--report': undefined, '--yes': yes });

/** The command that writes a new report of a job; a list may be called as its job. */
export const reportCommand = (
  { config }: Pick<Context, 'config'>,
  id: string,
  service: PrintedOptions = {},
): PrintedCommand => config.commandLine(['jobs', 'report', id], { '--report': reportName(id), ...service });

export const reportName = (id: string) => `${id}-report.csv`;

/** Reads the messages that are not final from the service. */
export const refreshCommand = (
  { config }: Pick<Context, 'config'>,
  { id, meta }: Pick<JobView, 'id' | 'meta'>,
): PrintedCommand =>
  config.commandLine(['jobs', 'show', id], {
    '--refresh': true,
    '--sandbox': meta.baseUrl === sandboxBaseUrl,
  });

export type ResumeContext = Pick<Context, 'config' | 'options'>;

/** The options that select a job's service. */
export const serviceOf = (baseUrl: string): PrintedOptions =>
  baseUrl === sandboxBaseUrl ? { '--sandbox': true } : { '--base-url': baseUrl };

/** Resumes any job on its service, at its rate, within its spend limit and this run's. */
export function resumeOf(
  context: ResumeContext,
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
): PrintedCommand {
  const { maxCredits, rate = state.rate ?? undefined }: PrintingOptions = context.options;
  const limit = Math.min(state.limit ?? Infinity, maxCredits ?? Infinity);
  return resumeCommand(context, id, {
    ...serviceOf(meta.baseUrl),
    '--max-credits': limit === Infinity ? undefined : limit,
    '--rate': rate,
  });
}

/** Whether a terminal shows it unchanged; a line end in a text would be shown as two other characters. */
export const isPrintable = (text: string) => visible(text) === text;

/** The options that the next run of the same job also needs. */
export function keptOptions(options: CarryOutOptions): PrintedOptions {
  const { concurrency, maxCredits, maxWait, rate, wait, waitTimeout, report } = options;
  const differs = <Value>(value: Value, usual: Value) => (value === usual ? undefined : value);
  const written = (value: number, usual: number) => (value === usual ? undefined : writtenDuration(value));
  return {
    '--max-credits': maxCredits,
    '--rate': rate,
    '--concurrency': differs(concurrency, carryOutDefaults.concurrency),
    '--max-wait': written(maxWait, carryOutDefaults.maxWait),
    '--wait': wait,
    '--wait-timeout': written(waitTimeout, carryOutDefaults.waitTimeout),
    '--report': report !== undefined && isPrintable(report) ? report : undefined,
  };
}

/** What a job was made of: the rows left out, and the texts and options of its command. */
export interface JobInput {
  channel: Channel;
  templates: MessageTemplates;
  options: BulkOptions;
  /** Rows that `--skip-invalid` left out now, and their file. */
  rejected: number;
  rejects: string | null;
}

/**
 * The command that sends some rows of a file: those with one status if the file is a report, otherwise all. It must
 * reach no further recipients, and cost no more than the command that sent the others might have.
 */
export function onlyRowsCommand(
  context: Pick<Context, 'config' | 'options'>,
  state: Spent,
  input: JobInput,
  file: string,
  only: 'rejected' | 'failed' | null,
): PrintedCommand {
  const selection: PrintedOptions = {
    ...(only === null ? {} : { '--only': only, '--accept-duplicates': undefined }),
    // Failed rows are sent on purpose, which excludes it; a fixed row may be for somebody on the list.
    ...(only === 'failed' ? { '--skip-sent': undefined, '--job': undefined } : {}),
  };
  const options = { ...rejectsOptions(state, input), ...selection, '--yes': context.options.yes };
  return context.config.commandLine([input.channel, 'bulk', file], options);
}

/** What a job has spent of its limit. */
type Spent = Pick<JobView['state'], 'limit' | 'credits'>;

/** For example `to-column` for `toColumn`. */
type Written<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Written<Rest>}`
  : Name;

/** Every option of a bulk command, for the command that sends some of its rows. */
function rejectsOptions(
  state: Spent,
  { templates, options }: JobInput,
): Record<`--${Written<keyof BulkOptions>}`, PrintedOptions[`--${string}`]> {
  const limit = options.maxCredits ?? state.limit;
  const kept = keptOptions(options);
  return {
    ...textOptions(options, templates),
    '--to-column': options.toColumn,
    '--only': options.only?.join(','),
    '--accept-duplicates': options.acceptDuplicates,
    '--allow-repeats': options.allowRepeats,
    '--skip-invalid': options.skipInvalid,
    '--skip-sent': options.skipSent,
    '--job': rejectsJob(options),
    '--allow-partial': options.allowPartial,
    '--max-credits': limit === null ? undefined : Math.max(0, limit - state.credits),
    '--rate': kept['--rate'],
    '--concurrency': kept['--concurrency'],
    '--max-wait': kept['--max-wait'],
    '--wait': kept['--wait'],
    '--wait-timeout': kept['--wait-timeout'],
    // A rejects file starts with a header, and is always UTF-8 with commas.
    '--encoding': undefined,
    '--delimiter': undefined,
    '--headerless': undefined,
    '--header-row': undefined,
    '--sheet': undefined,
    '--visible-only': undefined,
    // These files contain the rows of this run.
    '--report': undefined,
    '--rejects': undefined,
    // The rows are a new job.
    '--again': undefined,
    '--retry-failed': undefined,
    '--if-finished': undefined,
    '--same-project': undefined,
    '--dry-run': undefined,
  };
}

/**
 * A name answers the question about earlier sends, and a fixed row may be for somebody on the list, so without
 * --skip-sent the job has no name. Undefined also if it would be too long.
 */
function rejectsJob({ job, skipSent }: BulkOptions): string | undefined {
  const name = `${job}-rejects`;
  return job !== undefined && skipSent && isJobName(name) ? name : undefined;
}

/** Files as given; texts from a prompt or standard input in full. */
function textOptions(options: BulkOptions, { text, html, subject }: MessageTemplates) {
  const { textFile, htmlFile, fromName, replyTo } = options;
  const isFile = (file: string | undefined) => file !== undefined && file !== '-';
  const fromTextFile = isFile(textFile);
  const fromHtmlFile = isFile(htmlFile);
  return {
    '--subject': subject,
    '--text-file': fromTextFile ? textFile : undefined,
    '--text': fromTextFile ? undefined : text,
    '--html-file': fromHtmlFile ? htmlFile : undefined,
    '--html': fromHtmlFile ? undefined : html,
    '--from-name': fromName,
    '--reply-to': replyTo,
  };
}
