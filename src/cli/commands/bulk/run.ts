import { removeCancelMarks } from '../../bulk/job/cancel-marks.js';
import type { Job } from '../../bulk/job/open-job.js';
import { forgetRun, noteRun } from '../../bulk/job/run-note.js';
import { isSystemError } from '../../bulk/job/system-error.js';
import { Poller } from '../../bulk/results/poller.js';
import { summaryOf } from '../../bulk/results/summary.js';
import type { Ending } from '../../bulk/send/ending.js';
import { runJob } from '../../bulk/send/runner.js';
import type { NextStep } from '../../config/printed-command.js';
import type { Context } from '../../context.js';
import { CliError, Ended, Interrupted, machineError } from '../../errors.js';
import { type ExitCode, exits } from '../../exit-codes.js';
import { appendHistory } from '../../history/append.js';
import { ensureShown, type Hidden, unwritten } from '../../single/shown.js';
import { counted, grouped } from '../../text/wording.js';
import { entryOfJob, startOfJob } from '../history/job-entries.js';
import { refuseOtherService } from './base-url.js';
import { type Cancellation, watchForCancel } from './cancellation.js';
import { admitKey } from './confirm/account.js';
import { readAccount } from './confirm/read-account.js';
import { display } from './display.js';
import {
  attachFinalDoubt,
  causeOfEnding,
  codeOfEnding,
  exitOfJob,
  exitWithReport,
  exitWithRows,
  lastLine,
} from './finish/outcome.js';
import { stepsAfter } from './finish/outcome-step.js';
import { report } from './finish/report.js';
import { summaryView } from './finish/summary-view.js';
import { type JobRuntime, openJobRuntime } from './job-runtime.js';
import { inOne, type JobInput, type LastLine } from './next-command.js';
import type { CarryOutOptions } from './options.js';
import { endFinished, isDone, ranElsewhere } from './prepare/finished.js';
import { moveSentElsewhere } from './prepare/sent-elsewhere.js';
import { takeRows } from './prepare/taken-rows.js';
import { refuseList } from './same-file.js';

interface Start {
  input?: JobInput | null;
  /** The cancel marks that a resume removes: those made before it. */
  revokedMarks?: readonly string[];
  /** Whether the preflight has already read everything that `--wait` needs, with this key. */
  hasPreflight?: boolean;
}

/**
 * Sends the open requests of a job, waits and reports according to the options, prints the summary, and ends with the
 * job's exit code. Throws CliError (exit 11) if the job is finished, or belongs to another service.
 */
export async function carryOut(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  { input = null, revokedMarks = [], hasPreflight = false }: Start = {},
): Promise<void> {
  let kept = options;
  const closingLines: ClosingLines = (ending) => {
    const [first = null, ...more] = stepsAfter(context, job, kept, ending, input);
    return { line: lastLine(job.state, ending, first), more };
  };
  const release = context.io.holdSignals({
    lastWords: () => context.io.warn(...inOne(closingLines(interrupted).line)),
  });
  let runtime: JobRuntime | null = null;
  let cancellation: Cancellation | null = null;
  try {
    await refuseOtherService(context, job);
    refuseList(context.config, job.plan.meta, options.report);
    await context.io.files.checkWritable(options.report);
    // A bulk command has done that before its prompt.
    if (options.retryFailed && !hasPreflight) await moveSentElsewhere(context, job);
    if (isDone(job, options)) return await endFinished(context, job, options, input);
    await admitKey(context, job, options).catch((error) => {
      if (!context.signal.aborted) throw error;
      context.io.warn(...inOne(closingLines(interrupted).line));
      throw new Interrupted();
    });
    kept = { ...options, sameProject: false };
    if (options.wait && !hasPreflight && !job.state.finished) {
      const { balance } = await context.network.client();
      await readAccount(() => balance.get(), options);
    }
    await takeRows(context, job);
    await removeCancelMarks(job, revokedMarks);
    cancellation = await watchForCancel(context, job);
    runtime = { ...(await openJobRuntime(context, options)), stop: cancellation.stop };
    const waitsUntil = await noteRun(job.folder, job.state, context.clock.now());
    await appendHistory(context, startOfJob(job));
    const exit = await runToEnd(context, job, options, runtime, { closingLines, input, waitsUntil }).finally(
      () => appendHistory(context, entryOfJob(job)),
    );
    if (exit === exits.refused) throw ranElsewhere(job);
    // With other codes, an error is printed anyway.
    const hidden = hiddenEnd(job);
    if (exit === exits.ok || exit === exits.partly) ensureShown(context.io.printer, hidden);
    else if (unwritten(context.io.printer) !== null) context.io.attach(hidden.details);
    if (exit !== exits.ok) throw new Ended(exit);
  } finally {
    cancellation?.close();
    runtime?.close();
    await forgetRun(job.folder);
    await job.close();
    release();
  }
}

/** The end of a job, for when its summary could not be printed. */
const hiddenEnd = ({ id, state: { counts } }: Job): Hidden => ({
  message: `The job ${id} has ended: ${grouped(counts.accepted)} of ${grouped(counts.planned)} accepted; do not start it again.`,
  command: `urtuu jobs show ${id}`,
  details: { job: id, ...counts },
});

/** Milliseconds */
const longestBalanceWait = 30_000;

/** The ending of an interrupted run. */
const interrupted: Ending = { stopped: { by: 'signal' }, waited: null };

/** The last line of a run for its ending, and what else remains to be done. */
type ClosingLines = (ending: Ending) => { line: LastLine; more: NextStep[] };

interface RunNotes {
  closingLines: ClosingLines;
  input: JobInput | null;
  waitsUntil(time: number): Promise<void>;
}

async function runToEnd(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  runtime: JobRuntime,
  { closingLines, input, waitsUntil }: RunNotes,
): Promise<ExitCode> {
  // The balance of an earlier run says nothing about now.
  job.state.balance = null;
  const ending = await send(context, job, options, { ...runtime, waitsUntil });
  if (ending.waited !== null && job.state.counts.failed > 0) {
    // Refunds may have arrived after the latest answer.
    job.state.balance = await readBalance(runtime);
  }
  const line = () => closingLines(ending).line;
  if (ending.stopped?.by === 'fault') {
    context.io.warn(...inOne(line()));
    throw job.state.finished ? faultAfterAll(job, ending.stopped.error) : ending.stopped.error;
  }
  const rule = { ranElsewhere: options.ifFinished === 'ok' ? 'ok' : 'refused' } as const;
  const exitNow = () => exitWithRows(exitOfJob(job.state, ending, rule), input);
  let exit = exitNow();
  const conclude = async () => {
    await recordEnd(context, job, ending, { exit, rate: options.rate ?? null });
    if (exit === exits.ok) context.io.note(...inOne(line()));
    else context.io.conclude(...line());
    for (const step of closingLines(ending).more) context.io.note(...step);
  };
  // A program gets one object once the exit code is certain; a person gets the figures before a long report.
  const { isMachine } = context.io.printer;
  if (!isMachine) await printSummary(context, job, exit, line);
  await conclude();
  if (options.report !== undefined) {
    // The last line explains the exit code.
    const isConclusion = exit === exits.ok || exit === exits.partly;
    const warn = (...text: LastLine) =>
      isConclusion ? context.io.conclude(...text) : context.io.warn(...inOne(text));
    const reading = { runtime, timeout: options.waitTimeout, warn };
    const [said] = line();
    const reported = await report(context, job, options.report, reading);
    exit = exitNow();
    // The report found another request's batch, or a new receipt.
    if (said !== line()[0]) await conclude();
    exit = exitWithReport(exit, reported);
  }
  const code = codeOfEnding(ending, exit);
  if (code !== null) context.io.attach({ code });
  const cause = causeOfEnding(ending, job.state, exit);
  if (cause !== null) context.io.attach({ cause });
  attachFinalDoubt(context, job.state, exit, ending.stopped);
  if (isMachine) await printSummary(context, job, exit, line);
  return exit;
}

/** Everything was accepted: no exit code may suggest sending it again. */
const faultAfterAll = ({ id }: Job, error: unknown) =>
  new CliError('fault', exits.notFinal, `internal error: ${(error as Error).message}`, {
    hint: `Everything was accepted; do not start the job ${id} again. See: \`urtuu jobs show ${id}\``,
    cause: error,
  });

async function send(
  context: Pick<Context, 'io' | 'clock'>,
  job: Job,
  options: CarryOutOptions,
  { waitsUntil, ...runtime }: JobRuntime & Pick<RunNotes, 'waitsUntil'>,
): Promise<Ending> {
  const { id: jobId, plan, journal, state } = job;
  const { concurrency, maxWait, maxCredits, retryFailed, wait, waitTimeout } = options;
  const run = runJob({
    ...runtime,
    jobId,
    plan,
    journal,
    state,
    concurrency,
    maxWait,
    maxCredits,
    retryFailed,
    openPoller: wait
      ? (run) => new Poller({ ...runtime, plan, journal, state, timeout: waitTimeout }, run)
      : undefined,
  });
  const ending = await display(context, run, { waits: wait ?? false, waitsUntil });
  if (runtime.replays.count > 0) {
    context.io.note(
      `${counted(runtime.replays.count, 'answer')} came from earlier requests with the same keys: nothing new was sent for them.`,
    );
  }
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

async function recordEnd(
  { clock }: Pick<Context, 'clock'>,
  { state, journal }: Job,
  ending: Ending,
  run: { exit: ExitCode; rate: number | null },
): Promise<void> {
  if (ending.stopped?.by === 'disk') return;
  const at = new Date(clock.now()).toISOString();
  await journal.append({ type: 'end', at, balance: state.balance, ...run }).catch(() => {});
}

async function printSummary(
  { io }: Pick<Context, 'io'>,
  { id, plan, state, journal }: Job,
  exit: ExitCode,
  line: () => ReturnType<typeof lastLine>,
): Promise<void> {
  try {
    await io.print(summaryView, { ...(await summaryOf(id, plan.meta, state, journal)), exit });
  } catch (error) {
    io.warn(...inOne(line()));
    throw isSystemError(error) ? machineError('the journal could not be read again', error) : error;
  }
}
