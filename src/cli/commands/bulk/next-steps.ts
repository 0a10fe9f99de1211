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

/** Failed messages of batches come later, after those that may have arrived. */
const stepsOfFinished = (context: StepContext, run: JobRun): NextStep[] =>
  run.job.state.has('failed') ? failedSteps(context, run) : rejectedSteps(context, run);

function failedSteps(context: StepContext, { job: { id, meta, state }, options }: JobRun): NextStep[] {
  if (!state.finished || state.counts.failed === 0) return [];
  const kept = options === null ? {} : keptOptions(options);
  const retry = retryCommand(context, id, { ...serviceOf(meta.baseUrl), ...kept });
  return [['Send the failed messages again with:', retry]];
}

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
 * rejected are only in the report, with all rows of the job: it is written first unless this run has written it.
 */
function rejectedSteps(context: StepContext, { job, options, input }: JobRun): NextStep[] {
  const { id, meta, state } = job;
  const { rejects = null, rejected = 0, only, acceptDuplicates } = input ?? {};
  // A job of an earlier release has no texts, and a terminal would alter the names of some files.
  const send = (file: string, selection: PrintedOptions): NextStep[] =>
    meta.templates !== undefined && isPrintable(file)
      ? [['Fix the rejected rows, then send only those with:', likeCommand(context, job, file, selection)]]
      : [];
  // Rows of a report are still those of its job.
  const selection = { '--only': only?.join(','), '--accept-duplicates': acceptDuplicates };
  const ofFile = rejects === null ? [] : send(rejects, selection);
  if (state.counts.rejected <= meta.rejected) return ofFile;
  const write = reportCommand(context, id, serviceOf(meta.baseUrl));
  const ofReport: NextStep = ['The rejected rows are in the report of the job:', write];
  // The list has changed since the job was planned; the report has the rows of that time.
  if (rejected > 0 && rejected !== meta.rejected) return [...ofFile, ofReport];
  const written = options?.report;
  const isWritten = written !== undefined && isPrintable(written);
  const sent = send(isWritten ? written : reportName(id), { '--only': 'rejected' });
  return isWritten ? sent : [ofReport, ...sent];
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
