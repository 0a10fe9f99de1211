import type { Channel } from '../../../contract/index.js';
import type { Job, JobView } from '../../bulk/job/open-job.js';
import type { MessageTemplates } from '../../bulk/plan/composer.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { Ending } from '../../bulk/send/run.js';
import type { PrintedOptions } from '../../command-line.js';
import type { Context } from '../../context.js';
import { writtenDuration } from '../../input/duration.js';
import { visible } from '../../terminal/sanitise.js';
import { type BulkOptions, type CarryOutOptions, carryOutDefaults } from './options.js';

/** What to do next: words, and the command they are about. */
export type NextStep = readonly [text: string, command: string];

/** The command that goes on with a job, from anywhere. */
export function resumeCommand(context: Context, id: string, options: PrintedOptions = {}): string {
  return context.config.commandLine(['jobs', 'resume', id], options);
}

/** The command that goes on with a job that is only looked at, perhaps from where its service is not chosen. */
export function resumeOf(context: Context, { id, meta }: Pick<JobView, 'id' | 'meta'>): string {
  return resumeCommand(context, id, { '--sandbox': meta.baseUrl === sandboxBaseUrl });
}

/** Whether a terminal shows it as it is: a line end in a text would come back as two other characters. */
const isPrintable = (text: string) => visible(text) === text;

/** The options of this run that the next one should have, too. How long it tries is not one: it would give up again. */
export function keptOptions(options: CarryOutOptions): PrintedOptions {
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

/** The command that sends the rows that were left out, and nobody else, once they are fixed. */
export function rejectsStep(
  context: Context,
  { channel, file, templates, options }: LeftOut,
): NextStep | null {
  const { job, toColumn, allowRepeats } = options;
  const command = context.config.commandLine([channel, 'bulk', file], {
    ...textOptions(options, templates),
    '--to-column': toColumn,
    '--allow-repeats': allowRepeats,
    '--job': job === undefined ? undefined : `${job}-rejects`,
    ...keptOptions(withoutReport(options)),
    '--yes': context.options.yes,
  });
  return isPrintable(command) ? ['Fix the rejected rows, then send only those with:', command] : null;
}

const withoutReport = ({ report: _, ...options }: BulkOptions): CarryOutOptions => options;

/** Rows that were left out of a job, and what the others were sent with. */
export interface LeftOut {
  channel: Channel;
  file: string;
  templates: MessageTemplates;
  options: BulkOptions;
}

/** As it was given; what was typed at a question, or came from standard input, in full. */
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

/** The way on from where a job stands; null when nothing is left to do. */
export function nextStep(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  { stopped }: Ending,
  leftOut: LeftOut | null,
): NextStep | null {
  const { id, table } = job;
  const kept = keptOptions(options);
  if (!table.finished && stopped?.by === 'limit') {
    const enough = { ...kept, '--max-credits': creditsOfAll(job, stopped.price) };
    return ['To go on with a higher limit:', resumeCommand(context, id, enough)];
  }
  if (!table.finished) return ['Go on with:', resumeCommand(context, id, kept)];
  if (!table.has('failed')) return leftOut === null ? null : rejectsStep(context, leftOut);
  return ['To try the failed ones again:', resumeCommand(context, id, { ...kept, '--retry-failed': true })];
}

/** What the whole job costs: as planned, or as dear for everyone as it was so far, or as the next one is. */
function creditsOfAll({ plan, table }: Job, price: number): number {
  const { accepted, in_doubt, pending } = table.tally;
  const left = in_doubt + pending;
  const soFar = accepted === 0 ? 0 : (table.credits / accepted) * (accepted + left);
  const fromHere = Number.isFinite(price) ? table.credits + price * left : 0;
  return Math.max(plan.meta.credits, Math.ceil(soFar), Math.ceil(fromHere));
}
