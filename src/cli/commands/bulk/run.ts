import { isSystemError } from '../../bulk/job/append-file.js';
import type { Job } from '../../bulk/job/open-job.js';
import { forgetRun, noteRun } from '../../bulk/job/run-note.js';
import { summaryOf, summaryView } from '../../bulk/results/summary.js';
import type { Ending } from '../../bulk/send/run.js';
import { runJob } from '../../bulk/send/runner.js';
import type { Context } from '../../context.js';
import { Ended, machineError } from '../../errors.js';
import { type ExitCode, exits } from '../../exit-codes.js';
import { counted } from '../../wording.js';
import { adoptAccount, foreignJob, isForeign } from './account.js';
import { display } from './display.js';
import { alreadyDone, isDone, ranElsewhere } from './finished.js';
import { type JobWorld, openJobWorld } from './job-runtime.js';
import { type LeftOut, nextStep } from './next-command.js';
import type { CarryOutOptions } from './options.js';
import { exitOfJob, lastLine } from './outcome.js';
import { refuseOtherService } from './prepare.js';
import { type Reported, report } from './report.js';
import { takeRows } from './reported-rows.js';

/**
 * Sends what is open in a job, waits and reports as the options say, prints the summary, and ends with the
 * job's exit code. Throws CliError (exit 11) when there is nothing left to do, or this is not its service.
 */
export async function carryOut(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  leftOut: LeftOut | null = null,
): Promise<void> {
  const words: Words = (ending) =>
    lastLine(job.table, ending, nextStep(context, job, options, ending, leftOut));
  const release = context.io.holdSignals(() => context.io.warn(...words(interrupted)));
  let world: JobWorld | null = null;
  try {
    await refuseOtherService(context, job);
    await context.io.files.checkWritable(options.report);
    if (isDone(job, options)) return await endDone(context, job, options, leftOut);
    if (await isForeign(context, job)) {
      if (!options.sameProject) throw foreignJob(job.id);
      await adoptAccount(context, job);
    }
    await takeRows(context, job);
    world = await openJobWorld(context, options);
    await noteRun(job.folder, job.table, context.clock.now());
    const exit = await settle(context, job, options, world, { words, leftOut });
    if (exit === exits.refused) throw ranElsewhere(job);
    if (exit !== exits.ok) throw new Ended(exit);
  } finally {
    world?.forget();
    await forgetRun(job.folder);
    await job.close();
    release();
  }
}

/** Nothing is left to send, nor to wait for. Throws CliError (exit 11) unless that counts as a success. */
async function endDone(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  leftOut: LeftOut | null,
): Promise<void> {
  const { id, plan, table, journal } = job;
  const foreign = !options.sameProject && (await isForeign(context, job));
  if (options.ifFinished !== 'ok' || foreign) {
    throw table.ranElsewhere && !foreign ? ranElsewhere(job) : alreadyDone(context, job, foreign);
  }
  const reported = await reportDone(context, job, options);
  const ended = exitOfJob(table, { stopped: null, waited: null }, { ranElsewhere: 'ok' });
  const exit = exitWithReport(exitWithRows(ended, leftOut), reported);
  await context.io.print(summaryView, await summaryOf(id, plan.meta, table, journal, exit));
  const said = `The job ${id} finished before; nothing was sent now.`;
  if (exit === exits.ok) return context.io.note(said);
  const next =
    leftOut === null ? null : nextStep(context, job, options, { stopped: null, waited: null }, leftOut);
  if (next === null) context.io.conclude(said);
  else context.io.conclude(`${said} ${next[0]}`, next[1]);
  throw new Ended(exit);
}

/** A report is wanted of a job that was finished, too: its file may be that of another run. */
async function reportDone(context: Context, job: Job, options: CarryOutOptions): Promise<Reported> {
  if (options.report === undefined) return 'written';
  const world = await openJobWorld(context, options);
  try {
    return await report(context, job, options.report, {
      world,
      timeout: options.waitTimeout,
      tell: context.io.warn,
    });
  } finally {
    world.forget();
  }
}

/** How a run has ended when nothing more can be waited for. */
const interrupted: Ending = { stopped: { by: 'signal' }, waited: null };

/** The last line of a run that ended so. */
type Words = (ending: Ending) => ReturnType<typeof lastLine>;

async function settle(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  world: JobWorld,
  { words, leftOut }: { words: Words; leftOut: LeftOut | null },
): Promise<ExitCode> {
  const ending = await send(context, job, options, world);
  const line = () => words(ending);
  if (ending.stopped?.by === 'fault') {
    context.io.warn(...line());
    throw ending.stopped.error;
  }
  const rule = { ranElsewhere: options.ifFinished === 'ok' ? 'ok' : 'refused' } as const;
  let exit = exitWithRows(exitOfJob(job.table, ending, rule), leftOut);
  // A program gets one object, when its exit is certain; a person all that is certain before a long report.
  const { isMachine } = context.io.printer;
  await recordEnd(context, job, ending, exit);
  if (!isMachine) await printSummary(context, job, exit, line);
  if (exit === exits.ok) context.io.note(...line());
  else context.io.conclude(...line());
  if (options.report !== undefined) {
    // What decides the exit is the last word.
    const tell = exit === exits.ok || exit === exits.partly ? context.io.conclude : context.io.warn;
    const reading = { world, timeout: options.waitTimeout, tell };
    const reported = await report(context, job, options.report, reading);
    if (reported === 'alarming') {
      exit = exitOfJob(job.table, ending, rule);
      await recordEnd(context, job, ending, exit);
      context.io.conclude(...line());
    } else {
      exit = exitWithReport(exit, reported);
    }
  }
  if (isMachine) await printSummary(context, job, exit, line);
  return exit;
}

/** Rows of this file were left out, also where the job was planned from one that did not have them. */
function exitWithRows(exit: ExitCode, leftOut: LeftOut | null): ExitCode {
  return exit === exits.ok && leftOut !== null ? exits.partly : exit;
}

function exitWithReport(exit: ExitCode, reported: Reported): ExitCode {
  if (reported === 'incomplete') return exit === exits.ok || exit === exits.partly ? exits.notFinal : exit;
  return reported === 'unwritten' && exit === exits.ok ? exits.machine : exit;
}

async function send(context: Context, job: Job, options: CarryOutOptions, world: JobWorld): Promise<Ending> {
  const { id: jobId, plan, journal, table } = job;
  const { concurrency, maxWait, maxCredits, retryFailed, wait, waitTimeout } = options;
  const run = runJob({
    ...world,
    jobId,
    plan,
    journal,
    table,
    concurrency,
    maxWait,
    maxCredits,
    retryFailed,
    wait: wait ? { client: world.client, after: world.after, timeout: waitTimeout } : undefined,
    random: () => context.network.random(),
  });
  const ending = await display(context, run);
  if (world.replays.count > 0) {
    context.io.note(
      `${counted(world.replays.count, 'answer')} came from earlier requests with the same keys: nothing new was sent for them.`,
    );
  }
  return ending;
}

/** Records how the run ended, where that can be recorded. */
async function recordEnd(
  context: Context,
  { table, journal }: Job,
  ending: Ending,
  exit: ExitCode,
): Promise<void> {
  if (ending.stopped?.by === 'disk') return;
  const at = new Date(context.clock.now()).toISOString();
  await journal.append(['end', at, exit, table.balance]).catch(() => {});
}

async function printSummary(
  context: Context,
  { id, plan, table, journal }: Job,
  exit: ExitCode,
  line: () => ReturnType<typeof lastLine>,
): Promise<void> {
  try {
    await context.io.print(summaryView, await summaryOf(id, plan.meta, table, journal, exit));
  } catch (error) {
    context.io.warn(...line());
    throw isSystemError(error) ? machineError('the journal could not be read again', error) : error;
  }
}
