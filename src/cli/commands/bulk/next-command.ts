import { type JobView, planName } from '../../bulk/job/open-job.js';
import { type PlanMeta, sandboxBaseUrl } from '../../bulk/plan/plan.js';
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

/** Resumes any job on its service, at its rate, within its spend limit and this run's; a held one by its plan. */
export function resumeOf(
  context: ResumeContext,
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
): PrintedCommand {
  const { maxCredits, rate = state.rate ?? undefined }: PrintingOptions = context.options;
  const limit = Math.min(state.limit ?? Infinity, maxCredits ?? Infinity);
  return resumeCommand(context, id, {
    '--plan': state.held ? planName(meta.digest) : undefined,
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

/** The options that say how a list is read, and are about no other one. */
export const listOptions = (options: BulkOptions): PrintedOptions => ({
  '--encoding': options.encoding,
  '--delimiter': options.delimiter,
  '--headerless': options.headerless,
  '--header-row': options.headerRow,
  '--sheet': options.sheet,
  '--visible-only': options.visibleOnly,
  '--only': options.only?.join(','),
});

/** What the command that sends rows of a file needs to know of the run. */
export interface JobInput {
  only: BulkOptions['only'];
  acceptDuplicates: boolean | undefined;
  /** Rows that `--skip-invalid` left out now, and their file. */
  rejected: number;
  rejects: string | null;
  /** What `--first` left for later; null for nothing that a command can name. */
  rest: PlanMeta['rest'] | null;
  /** With them, whom `--skip-sent` left out although their message may have failed. */
  leftOut: number;
}

/** Sends rows of a file like a job, whose texts and limits it takes over. */
export const likeCommand = (
  { config, options }: Pick<Context, 'config' | 'options'>,
  { id, meta }: Pick<JobView, 'id' | 'meta'>,
  file: string,
  selection: PrintedOptions,
): PrintedCommand =>
  config.commandLine([meta.channel, 'bulk', file], {
    ...selection,
    '--like': id,
    '--yes': options.yes,
  });
