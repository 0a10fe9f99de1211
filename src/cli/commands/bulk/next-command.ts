import type { Channel } from '../../../contract/index.js';
import { isJobName } from '../../bulk/job/keys.js';
import type { Job, JobView } from '../../bulk/job/open-job.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { Ending } from '../../bulk/send/ending.js';
import type { PrintedOptions } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { writtenDuration } from '../../input/duration.js';
import { visible } from '../../terminal/sanitise.js';
import { type BulkOptions, type CarryOutOptions, carryOutDefaults } from './options.js';

/** The next command, and the text before it. */
export type NextStep = readonly [text: string, command: string];

export function resumeCommand(
  { config }: Pick<Context, 'config'>,
  id: string,
  options: PrintedOptions = {},
): string {
  return config.commandLine(['jobs', 'resume', id], options);
}

/** For a job of any service: a job of the sandbox is resumed with --sandbox. */
export function resumeOf(
  context: Pick<Context, 'config'>,
  { id, meta }: Pick<JobView, 'id' | 'meta'>,
): string {
  return resumeCommand(context, id, { '--sandbox': meta.baseUrl === sandboxBaseUrl });
}

/** Whether a terminal shows it unchanged; it would show a line end in a text as two other characters. */
const isPrintable = (text: string) => visible(text) === text;

/** The options that the next run needs too; not --max-wait, with which it would give up again. */
function keptOptions(options: CarryOutOptions): PrintedOptions {
  const { concurrency, maxCredits, rate, wait, waitTimeout, report } = options;
  const differs = <Value>(value: Value, usual: Value) => (value === usual ? undefined : value);
  const written = (value: number, usual: number) => (value === usual ? undefined : writtenDuration(value));
  return {
    '--max-credits': maxCredits,
    '--rate': rate,
    '--concurrency': differs(concurrency, carryOutDefaults.concurrency),
    '--wait': wait,
    '--wait-timeout': written(waitTimeout, carryOutDefaults.waitTimeout),
    '--report': report !== undefined && isPrintable(report) ? report : undefined,
  };
}

/** The command that sends only the rejected rows, once they are fixed. */
function rejectsStep(
  context: Pick<Context, 'config' | 'options'>,
  { channel, file, templates, options }: LeftOut,
): NextStep | null {
  const { job, toColumn, allowRepeats } = options;
  const command = context.config.commandLine([channel, 'bulk', file], {
    ...textOptions(options, templates),
    '--to-column': toColumn,
    '--allow-repeats': allowRepeats,
    '--job': rejectsJob(job),
    ...keptOptions(withoutReport(options)),
    '--yes': context.options.yes,
  });
  return isPrintable(command) ? ['Fix the rejected rows, then send only those with:', command] : null;
}

/** Undefined where the plan names the job, or this would be too long a name. */
function rejectsJob(job: string | undefined): string | undefined {
  const name = `${job}-rejects`;
  return job !== undefined && isJobName(name) ? name : undefined;
}

const withoutReport = ({ report: _, ...options }: BulkOptions): CarryOutOptions => options;

/** Rows left out of a job, and the options of its command. */
export interface LeftOut {
  channel: Channel;
  file: string;
  templates: MessageTemplates;
  options: BulkOptions;
}

/** Files as given; texts from a prompt or standard input in full. */
function textOptions(options: BulkOptions, { text, html, subject }: MessageTemplates): PrintedOptions {
  const { textFile, htmlFile, fromName, replyTo } = options;
  const isFile = (file: string | undefined) => file !== undefined && file !== '-';
  return {
    '--subject': subject,
    ...(isFile(textFile) ? { '--text-file': textFile } : { '--text': text }),
    ...(isFile(htmlFile) ? { '--html-file': htmlFile } : { '--html': html }),
    '--from-name': fromName,
    '--reply-to': replyTo,
  };
}

/** Null when nothing is left to do. */
export function nextStep(
  context: Pick<Context, 'config' | 'options'>,
  job: Job,
  options: CarryOutOptions,
  { stopped }: Ending,
  leftOut: LeftOut | null,
): NextStep | null {
  const { id, state } = job;
  const kept = keptOptions(options);
  if (!state.finished && stopped?.by === 'limit') {
    const enough = { ...kept, '--max-credits': creditsOfAll(job, stopped.price) };
    return ['Resume with a higher limit:', resumeCommand(context, id, enough)];
  }
  if (!state.finished) return ['Resume with:', resumeCommand(context, id, kept)];
  if (!state.has('failed')) return leftOut === null ? null : rejectsStep(context, leftOut);
  return ['Retry the failed messages with:', resumeCommand(context, id, { ...kept, '--retry-failed': true })];
}

/** The price of the whole job: planned, or at the average price so far, or at the price of the next recipient. */
function creditsOfAll({ plan, state }: Job, price: number): number {
  const { accepted, in_doubt, pending } = state.tally;
  const left = in_doubt + pending;
  const soFar = accepted === 0 ? 0 : (state.credits / accepted) * (accepted + left);
  const fromHere = Number.isFinite(price) ? state.credits + price * left : 0;
  return Math.max(plan.meta.credits, Math.ceil(soFar), Math.ceil(fromHere));
}
