import type { Channel } from '../../../contract/index.js';
import { isJobName } from '../../bulk/job/keys.js';
import type { Job, JobView } from '../../bulk/job/open-job.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import { type Ending, type NextPrice, refusalOfKey } from '../../bulk/send/ending.js';
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

/** The last line of a run, and what to do next. */
export type LastLine = [text: string, next?: NextStep | undefined];

/** As a line for `note` and `warn`. */
export const inOne = ([text, next]: LastLine): [text: string, command?: PrintedCommand] =>
  next === undefined ? [text] : [`${text} ${next[0]}`, next[1]];

export function resumeCommand(
  { config }: Pick<Context, 'config'>,
  id: string,
  options: PrintedOptions = {},
): PrintedCommand {
  return config.commandLine(['jobs', 'resume', id], options);
}

/** The command that writes a new report of a job; a list may be called as its job. */
export const reportCommand = (
  { config }: Pick<Context, 'config'>,
  id: string,
  service: PrintedOptions = {},
): PrintedCommand => config.commandLine(['jobs', 'report', id], { '--report': reportName(id), ...service });

const reportName = (id: string) => `${id}-report.csv`;

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
const isPrintable = (text: string) => visible(text) === text;

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
 * How to send the rejected rows once they are fixed. Rows that were left out are in a separate file; those that the
 * service rejected are only in the report, with all rows of the job.
 */
function rejectedSteps(
  context: Pick<Context, 'config' | 'options'>,
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
  report: string | undefined,
  input: JobInput | null,
): NextStep[] {
  const { rejects = null, rejected = 0 } = input ?? {};
  const ofFile = () => (rejects === null ? [] : sendFile(onlyTexts.rejected, context, state, input, rejects));
  if (state.counts.rejected <= meta.rejected) return ofFile();
  const command = reportCommand(context, id, serviceOf(meta.baseUrl));
  const write: NextStep = ['The rejected rows are in the report of the job:', command];
  // The list has changed since the job was planned; the report has the rows of that time.
  if (rejected > 0 && rejected !== meta.rejected) return [...ofFile(), write];
  return report !== undefined && isPrintable(report)
    ? sendOnly('rejected', context, state, input, report)
    : [write, ...sendOnly('rejected', context, state, input, reportName(id))];
}

/** How to send to the recipients of batches whose message failed; the job itself retries only single sends. */
export function failedSteps(
  context: Pick<Context, 'config' | 'options'>,
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
  report: string | undefined,
  input: JobInput | null,
): NextStep[] {
  if (state.counts.failed === 0 || state.has('failed') || !state.finished) return [];
  return report !== undefined && isPrintable(report)
    ? sendOnly('failed', context, state, input, report)
    : [
        [
          'The failed rows are in the report of the job:',
          reportCommand(context, id, serviceOf(meta.baseUrl)),
        ],
        ...sendOnly('failed', context, state, input, reportName(id)),
      ];
}

const onlyTexts = {
  rejected: 'Fix the rejected rows, then send only those with:',
  failed: 'Send only the failed rows again with:',
};

/** The command that sends some rows of a file; none if the file is unknown, or a terminal would alter the command. */
function sendOnly(
  which: keyof typeof onlyTexts,
  context: Pick<Context, 'config' | 'options'>,
  state: Spent,
  input: JobInput | null,
  report: string,
): NextStep[] {
  return sendFile(onlyTexts[which], context, state, input, report, {
    '--only': which,
    '--accept-duplicates': undefined,
    // Failed rows are sent on purpose, which excludes it; a fixed row may be for somebody on the list.
    ...(which === 'failed' ? { '--skip-sent': undefined, '--job': undefined } : {}),
  });
}

function sendFile(
  text: string,
  context: Pick<Context, 'config' | 'options'>,
  state: Spent,
  input: JobInput | null,
  file: string,
  selection: PrintedOptions = {},
): NextStep[] {
  if (input === null) return [];
  const options = { ...rejectsOptions(state, input), ...selection, '--yes': context.options.yes };
  const command = context.config.commandLine([input.channel, 'bulk', file], options);
  return isPrintable(command) ? [[text, command]] : [];
}

/** What a job has spent of its limit. */
type Spent = Pick<JobView['state'], 'limit' | 'credits'>;

/** For example `to-column` for `toColumn`. */
type Written<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Written<Rest>}`
  : Name;

/**
 * Every option of a bulk command, for the command that sends some of its rows. It must reach no further recipients, and
 * cost no more than this one might have.
 */
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

/** Empty if nothing is left to do. */
export function nextSteps(
  context: Pick<Context, 'config' | 'options'>,
  job: Job,
  options: CarryOutOptions,
  { stopped }: Ending,
  input: JobInput | null,
): NextStep[] {
  const { id, plan, state } = job;
  const kept = keptOptions(options);
  // Until the key has been admitted.
  const unfinished = { '--same-project': options.sameProject, ...kept };
  if (!state.finished && stopped?.by === 'limit') {
    const enough = { ...unfinished, '--max-credits': creditsOfAll(job, stopped) };
    return [['Resume with a higher limit:', resumeCommand(context, id, enough)]];
  }
  const refusal = refusalOfKey(stopped);
  if (!state.finished && refusal !== null) {
    // Another key is checked with what was accepted.
    if (state.counts.accepted === 0)
      return [['Resume with the same API key, once it may send:', resumeCommand(context, id, unfinished)]];
    const command = resumeCommand(context, id, { ...unfinished, '--same-project': true });
    return [[`Resume with ${keysInstead[refusal]}:`, command]];
  }
  if (!state.finished) return [['Resume with:', resumeCommand(context, id, unfinished)]];
  return stepsOfFinished(context, { id, meta: plan.meta, state }, options, input);
}

const keysInstead = {
  unauthorized: 'a valid API key of the same project',
  forbidden: 'an API key of the same project that may send',
};

/** The next steps for a finished job; options and input are null for a command that only looks. */
export function stepsOfFinished(
  context: Pick<Context, 'config' | 'options'>,
  job: Pick<JobView, 'id' | 'meta' | 'state'>,
  options: CarryOutOptions | null,
  input: JobInput | null,
): NextStep[] {
  const { id, meta, state } = job;
  if (!state.has('failed')) return rejectedSteps(context, job, options?.report, input);
  const kept = options === null ? {} : keptOptions(options);
  const retry = { ...serviceOf(meta.baseUrl), ...kept, '--retry-failed': true };
  return [['Retry the failed messages with:', resumeCommand(context, id, retry)]];
}

/** The price of the whole job: as planned; if prices have risen, by the average so far or the next recipient's price. */
function creditsOfAll({ plan, state }: Job, { price, increase }: NextPrice): number {
  if (increase === 1 && plan.meta.credits > (state.limit ?? 0)) return plan.meta.credits;
  const { accepted, in_doubt, pending } = state.counts;
  const left = in_doubt + pending;
  const soFar = accepted === 0 ? 0 : (state.credits / accepted) * (accepted + left);
  const fromHere = Number.isFinite(price) ? state.credits + price * left : 0;
  return Math.max(plan.meta.credits, Math.ceil(soFar), Math.ceil(fromHere));
}
