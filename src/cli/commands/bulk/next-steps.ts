import type { JobView } from '../../bulk/job/open-job.js';
import { type Ending, type NextPrice, refusalOfKey } from '../../bulk/send/ending.js';
import type { NextStep, PrintedOptions } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { counted } from '../../text/wording.js';
import {
  isPrintable,
  type JobInput,
  keptOptions,
  likeCommand,
  refreshCommand,
  reportCommand,
  reportName,
  resumeCommand,
  resumeOf,
  retryCommand,
  serviceOf,
} from './next-command.js';
import type { CarryOutOptions } from './options.js';
import { notRun } from './verdict.js';

type StepContext = Pick<Context, 'config' | 'options'>;

/** A job, and the command that ran it. */
export interface JobRun {
  job: Pick<JobView, 'id' | 'meta' | 'state'>;
  /** Null for a command that only looks at the job. */
  options: CarryOutOptions | null;
  /** Null if the command did not plan the job. */
  input: JobInput | null;
}

/** What remains to be done after a run, most urgent first; empty if nothing is left. */
export function stepsAfter(
  context: StepContext,
  run: JobRun & { options: CarryOutOptions },
  ending: Ending,
): NextStep[] {
  const { job, options } = run;
  const all = [
    ...(job.state.finished ? stepsOfFinished(context, run) : [resumeStep(context, job, options, ending)]),
    ...outcomeSteps(context, job, ending),
    ...failedSteps(context, run),
    ...laterSteps(context, run),
  ];
  const commands = all.map(([, command]) => command);
  return all.filter(([, command], at) => commands.indexOf(command) === at);
}

/** For a command that only looks at a job: the most urgent step; empty if nothing is left. */
export function stepAfterLook(context: StepContext, job: JobRun['job']): NextStep[] {
  const { finished, held } = job.state;
  if (!finished) return [[held ? 'Send it with:' : 'Resume with:', resumeOf(context, job)]];
  const looked = { job, options: null, input: null };
  return [
    ...outcomeSteps(context, job, notRun),
    ...stepsOfFinished(context, looked),
    ...failedSteps(context, looked),
  ].slice(0, 1);
}

function resumeStep(
  context: StepContext,
  { id, meta, state }: JobRun['job'],
  options: CarryOutOptions,
  { stopped }: Ending,
): NextStep {
  // Until the key has been admitted.
  const kept = { '--same-project': options.sameProject, ...keptOptions(options) };
  const resume = (change = {}) => resumeCommand(context, id, { ...kept, ...change });
  if (stopped?.by === 'limit') {
    const enough = creditsOfAll({ meta, state }, stopped);
    return ['Resume with a higher limit:', resume({ '--max-credits': enough })];
  }
  const refusal = refusalOfKey(stopped);
  const isQuiet = stopped?.by === 'service' && stopped.opens !== undefined;
  if (refusal === null) return [isQuiet ? 'Resume then:' : 'Resume with:', resume()];
  // Another key is checked with what was accepted.
  if (state.counts.accepted === 0) return ['Resume with the same API key, once it may send:', resume()];
  return [`Resume with ${keysInstead[refusal]}:`, resume({ '--same-project': true })];
}

const keysInstead = {
  unauthorized: 'a valid API key of the same project',
  forbidden: 'an API key of the same project that may send',
};

/** The price of the whole job: as planned; if prices have risen, by the average so far or the next recipient's price. */
function creditsOfAll({ meta, state }: Omit<JobRun['job'], 'id'>, { price, increase }: NextPrice): number {
  if (increase === 1 && meta.credits > (state.spendLimit ?? 0)) return meta.credits;
  const { accepted, in_doubt, pending } = state.counts;
  const left = in_doubt + pending;
  const soFar = accepted === 0 ? 0 : (state.credits / accepted) * (accepted + left);
  const fromHere = Number.isFinite(price) ? state.credits + price * left : 0;
  return Math.max(meta.credits, Math.ceil(soFar), Math.ceil(fromHere));
}

const stepsOfFinished = (context: StepContext, run: JobRun): NextStep[] =>
  run.job.state.has('failed') ? retrySteps(context, run) : rejectedSteps(context, run);

function retrySteps(context: StepContext, { job, options }: JobRun): NextStep[] {
  const kept = options === null ? {} : keptOptions(options);
  const retry = { ...serviceOf(job.meta.baseUrl), ...kept };
  return [['Send the failed messages again with:', retryCommand(context, job.id, retry)]];
}

/** About failed messages of batches, for which those that may have arrived come first. */
const failedSteps = (context: StepContext, run: JobRun): NextStep[] =>
  run.job.state.finished && run.job.state.counts.failed > 0 ? retrySteps(context, run) : [];

/** About messages that may not have arrived, or whose outcome was not read. */
function outcomeSteps(
  context: Pick<Context, 'config'>,
  { id, meta, state }: JobRun['job'],
  { waited }: Ending,
): NextStep[] {
  const { unknown, in_doubt: doubt } = state.counts;
  if (unknown > 0 || (doubt > 0 && state.finished))
    return [['To see who they are:', reportCommand(context, id, serviceOf(meta.baseUrl))]];
  const isOpen = waited !== null && !waited.final && state.finished;
  return isOpen ? [['Look again with:', refreshCommand(context, { id, meta })]] : [];
}

/**
 * About rejected rows, once they are fixed. Rows that were left out are in a separate file; those that the service
 * rejected are only in the report, with all rows of the job.
 */
function rejectedSteps(context: StepContext, run: JobRun): NextStep[] {
  const { meta, state } = run.job;
  const { rejects = null, rejected = 0, only, acceptDuplicates } = run.input ?? {};
  // Rows of a report are still those of its job.
  const selection = { '--only': only?.join(','), '--accept-duplicates': acceptDuplicates };
  const ofFile = () => (rejects === null ? [] : sendStep(context, run.job, 'rejected', rejects, selection));
  if (state.counts.rejected <= meta.rejected) return ofFile();
  // The list has changed since the job was planned; the report has the rows of that time.
  return rejected > 0 && rejected !== meta.rejected
    ? [...ofFile(), writeStep(context, run.job, 'rejected')]
    : reportedSteps(context, run, 'rejected');
}

/** The command that sends to those whom `--first` left for later; null for none. */
export function laterStep(context: StepContext, { job, input }: JobRun): NextStep | null {
  const { meta, state } = job;
  const { recipients = 0, options = {} } = (input === null ? meta.rest : input.rest) ?? {};
  const file = meta.source === '-' ? '-' : (meta.path ?? '');
  const isNamed = [file, ...Object.values(options)].every((each) => isPrintable(String(each)));
  if (!state.finished || recipients === 0 || !isNamed) return null;
  const again = file === '-' ? ', from the same standard input' : '';
  return [
    `Left for later${again}: ${counted(recipients, 'recipient')}`,
    likeCommand(context, job, file, { ...serviceOf(meta.baseUrl), ...options, '--skip-sent': true }),
  ];
}

function laterSteps(context: StepContext, run: JobRun): NextStep[] {
  const step = laterStep(context, run);
  return step === null ? [] : [[`${step[0]}. Send to them with:`, step[1]]];
}

type Which = 'rejected' | 'failed';

/** Sends rows of the report, which is written first unless this run has written it. */
function reportedSteps(context: StepContext, { job, options }: JobRun, which: Which): NextStep[] {
  const report = options?.report;
  const sends = (file: string) => sendStep(context, job, which, file, { '--only': which });
  return report !== undefined && isPrintable(report)
    ? sends(report)
    : [writeStep(context, job, which), ...sends(reportName(job.id))];
}

const writeStep = (context: StepContext, { id, meta }: JobRun['job'], which: Which): NextStep => [
  `The ${which} rows are in the report of the job:`,
  reportCommand(context, id, serviceOf(meta.baseUrl)),
];

const sendTexts = {
  rejected: 'Fix the rejected rows, then send only those with:',
  failed: 'Send only the failed rows again with:',
};

/** None for a job of an earlier release, which has no texts, or for a file whose name a terminal would alter. */
const sendStep = (
  context: StepContext,
  job: JobRun['job'],
  which: Which,
  file: string,
  selection: PrintedOptions,
): NextStep[] =>
  job.meta.templates !== undefined && isPrintable(file)
    ? [[sendTexts[which], likeCommand(context, job, file, selection)]]
    : [];
