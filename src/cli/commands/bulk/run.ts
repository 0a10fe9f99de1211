import { removeCancelMarks } from '../../bulk/job/cancel-marks.js';
import type { Job } from '../../bulk/job/open-job.js';
import { forgetRun, noteRun } from '../../bulk/job/run-note.js';
import { Poller } from '../../bulk/results/poller.js';
import { summaryOf } from '../../bulk/results/summary.js';
import type { Ending } from '../../bulk/send/ending.js';
import { runJob } from '../../bulk/send/runner.js';
import type { NextStep } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { CliError, Ended, Interrupted } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { appendHistory } from '../../history/append.js';
import { ensureShown, type Hidden, unwritten } from '../../single/shown.js';
import { counted, grouped } from '../../text/wording.js';
import { entryOfJob, startOfJob } from '../history/job-entries.js';
import { refuseOtherService } from './base-url.js';
import { watchForCancel } from './cancellation.js';
import { admitKey } from './confirm/account.js';
import { readAccount } from './confirm/read-account.js';
import { display } from './display.js';
import { attachVerdict, conclude } from './finish/conclude.js';
import { writeReport } from './finish/report.js';
import { summaryView } from './finish/summary-view.js';
import { type JobRuntime, openJobRuntime } from './job-runtime.js';
import { inOne, type JobInput } from './next-command.js';
import { stepsAfter } from './next-steps.js';
import type { CarryOutOptions } from './options.js';
import { endFinished, isDone, ranElsewhere } from './prepare/finished.js';
import { shareLimitLater } from './prepare/start.js';
import { confirmTaken } from './prepare/take.js';
import { refuseList } from './same-file.js';
import { judgeJob, type Reported, type Verdict } from './verdict.js';

export interface Start {
  input?: JobInput | null;
  /** Whether a retry of what failed prints the result for a program. */
  isFirst?: boolean;
  /** The cancel marks that a resume removes: those made before it. */
  revokedMarks?: readonly string[];
  /** Rows that were left out, without an `input`. */
  leftOut?: number;
  /** Whether the preflight has already read everything that `--wait` needs, with this key. */
  hasPreflight?: boolean;
  /** Of a held job that this run starts: throws if others have sent more meanwhile than was confirmed. */
  recheck?: (() => Promise<void>) | null;
}

type Run = Required<Start> & { job: Job; options: CarryOutOptions };
type EndedRun = Run & { ending: Ending };

/**
 * Sends the open requests of a job, waits and reports according to the options, prints the summary, and ends with the
 * job's exit code. Throws CliError (exit 11) if the job is finished, or belongs to another service.
 */
export async function carryOut(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  {
    input = null,
    leftOut = input?.leftOut ?? 0,
    isFirst = false,
    revokedMarks = [],
    hasPreflight = false,
    recheck = null,
  }: Start = {},
): Promise<void> {
  const run = { job, options, input, leftOut, isFirst, revokedMarks, hasPreflight, recheck };
  await whileOpen(context, run, async () => {
    await open(context, run);
    if (isDone(job, options)) return endFinished(context, job, options, input);
    await admit(context, run);
    await whileRunning(context, run, async (runtime) => {
      const ended = { ...run, ending: await send(context, run, runtime) };
      const verdict = judge(ended);
      if (ended.ending.stopped?.by === 'fault') throw endOfFault(context, ended, ended.ending.stopped.error);
      // A program gets one object once the exit code is certain; a person gets the figures before a long report.
      if (!context.io.printer.isMachine) await printSummary(context, ended, verdict);
      await concludeRun(context, ended, verdict);
      const reported = await writeReport(context, job, options, { runtime, exit: verdict.exit });
      // The report found another request's batch, or a new receipt.
      if (judge(ended).sentence !== verdict.sentence) await concludeRun(context, ended, judge(ended));
      await endRun(context, ended, judge(ended, reported));
    });
  });
}

/**
 * Closes the job after the work. A second signal ends the process at once; its last words are those of an interrupted
 * run.
 */
async function whileOpen(context: Context, run: Run, work: () => Promise<void>): Promise<void> {
  const lastWords = () => warnOfEnding(context, { ...run, ending: interrupted });
  const release = context.io.holdSignals({ lastWords });
  try {
    await work();
  } finally {
    try {
      await forgetRun(run.job.folder);
      await run.job.close();
    } finally {
      release();
    }
  }
}

const interrupted: Ending = { stopped: { by: 'signal' }, waited: null };

async function open(context: Context, { job, options, hasPreflight }: Run): Promise<void> {
  await refuseOtherService(context, job);
  refuseList(context.config, job.meta, options.report);
  await context.io.files.checkWritable(options.report);
  // A bulk command has done that before its prompt.
  if (!hasPreflight) await shareLimitLater(context, job);
}

/** From then on, the job knows the API key. */
async function admit(context: Context, run: Run): Promise<void> {
  const { job, options } = run;
  await admitKey(context, job, options).catch((error) => {
    if (!context.signal.aborted) throw error;
    warnOfEnding(context, { ...run, ending: interrupted });
    throw new Interrupted();
  });
  run.options = { ...options, sameProject: false };
}

/** What a job needs while it sends. */
interface RunRuntime extends JobRuntime {
  /** Notes the earliest time, in milliseconds since 1970, at which the job can end. */
  waitsUntil(time: number): Promise<void>;
}

/** The history has the start of the run, and its end whatever happens. */
async function whileRunning(
  context: Context,
  { job, options, revokedMarks, hasPreflight, recheck }: Run,
  work: (runtime: RunRuntime) => Promise<void>,
): Promise<void> {
  if (options.wait && !hasPreflight && !job.state.finished) {
    const { balance } = await context.network.client();
    await readAccount(() => balance.get(), options);
  }
  await confirmTaken(context, job, recheck);
  await removeCancelMarks(job, revokedMarks);
  const { stop, close } = await watchForCancel(context, job);
  try {
    const runtime = await openJobRuntime(context, options);
    try {
      const waitsUntil = await noteRun(job.folder, job.state, context.clock.now());
      await appendHistory(context, startOfJob(job));
      await work({ ...runtime, stop, waitsUntil }).finally(() => appendHistory(context, entryOfJob(job)));
    } finally {
      runtime.close();
    }
  } finally {
    close();
  }
}

/** Milliseconds */
const longestBalanceWait = 30_000;

async function send(context: Context, { job, options }: Run, runtime: RunRuntime): Promise<Ending> {
  const { id: jobId, plan, journal, state } = job;
  const { wait = false, waitTimeout: timeout } = options;
  // The balance of an earlier run says nothing about now.
  state.balance = null;
  const events = runJob({
    ...{ ...options, ...runtime, jobId, plan, journal, state },
    openPoller: wait ? (run) => new Poller({ ...runtime, plan, state, timeout }, run) : undefined,
  });
  const ending = await display(context, events, { waits: wait, waitsUntil: runtime.waitsUntil });
  if (runtime.replays.count > 0) {
    context.io.note(
      `${counted(runtime.replays.count, 'answer')} came from earlier requests with the same keys: nothing new was sent for them.`,
    );
  }
  // Refunds may have arrived after the latest answer.
  if (ending.waited !== null && state.counts.failed + state.counts.suppressed > 0)
    state.balance = await readBalance(runtime);
  return ending;
}

/** Null if it cannot be read. */
async function readBalance({ client, rateLimiter, stop }: JobRuntime): Promise<number | null> {
  try {
    const isAllowed = await rateLimiter.take('reading', stop, longestBalanceWait);
    return isAllowed ? (await client.balance.get({ signal: stop, maxRetries: 1 })).balance : null;
  } catch {
    return null;
  }
}

const judge = ({ job, options, leftOut, ending }: EndedRun, reported?: Reported): Verdict =>
  judgeJob(job.state, ending, {
    allowsReplays: options.ifFinished === 'ok',
    leftOut,
    reported,
  });

const stepsOf = (context: Context, { job, options, input, ending }: EndedRun): NextStep[] =>
  stepsAfter(context, { job, options, input }, ending);

function warnOfEnding(context: Context, ended: EndedRun): void {
  const [first] = stepsOf(context, ended);
  context.io.warn(...inOne(judge(ended).sentence, first));
}

/** Once everything was accepted, no exit code may suggest sending it again. */
function endOfFault(context: Context, ended: EndedRun, error: unknown): unknown {
  const { exit, code } = judge(ended);
  warnOfEnding(context, ended);
  if (code === null) return error;
  const { id } = ended.job;
  return new CliError(code, exit, `internal error: ${(error as Error).message}`, {
    hint: `Everything was accepted; do not start the job ${id} again. See: \`urtuu jobs show ${id}\``,
    cause: error,
  });
}

/** Records the end of the run, and prints it. */
async function concludeRun(context: Context, ended: EndedRun, verdict: Verdict): Promise<void> {
  const { job, options, ending } = ended;
  const { state, journal } = job;
  if (ending.stopped?.by !== 'disk') {
    const at = new Date(context.clock.now()).toISOString();
    const run = { balance: state.balance, exit: verdict.exit, rate: options.rate ?? null };
    await journal.append({ type: 'end', at, ...run }).catch(() => {});
  }
  conclude(context, verdict, stepsOf(context, ended));
}

async function endRun(context: Context, ended: EndedRun, verdict: Verdict): Promise<void> {
  const { io } = context;
  const { exit } = verdict;
  attachVerdict(context, verdict);
  const isLast = !(ended.isFirst && isRetried(exit, ended.job.state));
  if (io.printer.isMachine && isLast) await printSummary(context, ended, verdict);
  if (exit === exits.refused) throw ranElsewhere(ended.job);
  // With other codes, an error is printed anyway.
  const hidden = hiddenEnd(ended.job);
  if (exit === exits.ok || exit === exits.partly) ensureShown(io.printer, hidden);
  else if (unwritten(io.printer) !== null) io.attach(hidden.details);
  if (exit !== exits.ok) throw new Ended(exit);
}

/** Whether `--retry-failed` has something to do after a run. */
export const isRetried = (exit: unknown, { counts }: Job['state']): boolean =>
  counts.failed > 0 && (exit === exits.partly || exit === exits.notSent);

/** The end of a job, for when its summary could not be printed. */
const hiddenEnd = ({ id, state: { counts } }: Job): Hidden => ({
  message: `The job ${id} has ended: ${grouped(counts.accepted)} of ${grouped(counts.planned)} accepted; do not start it again.`,
  command: `urtuu jobs show ${id}`,
  details: { job: id, ...counts },
});

async function printSummary(context: Context, ended: EndedRun, { exit }: Verdict): Promise<void> {
  try {
    await context.io.print(summaryView, { ...summaryOf(ended.job), exit });
  } catch (error) {
    warnOfEnding(context, ended);
    throw error;
  }
}
