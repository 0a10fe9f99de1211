import type { Context } from '../context.js';
import { CliError, Ended, machineError } from '../errors.js';
import { type ExitCode, exits } from '../exit-codes.js';
import { localTime } from '../output/cells.js';
import { counted, grouped } from '../output/wording.js';
import { isSystemError } from './disk.js';
import { display } from './display.js';
import type { Job } from './job.js';
import { type JobWorld, openJobWorld } from './job-world.js';
import type { CarryOutOptions } from './options.js';
import { exitOfJob, lastLine } from './outcome.js';
import { type Reported, report } from './report-job.js';
import { runJob } from './run.js';
import type { Ending } from './run-options.js';
import { refuseOtherService } from './start.js';
import { summaryOf, summaryView } from './summary.js';

/**
 * Sends what is open in a job, waits and reports as the options say, prints the summary, and ends with the
 * job's exit code. Throws CliError (exit 11) when there is nothing left to do, or this is not its service.
 */
export async function carryOut(context: Context, job: Job, options: CarryOutOptions): Promise<void> {
  const release = context.holdSignals();
  let world: JobWorld | null = null;
  try {
    await refuseOtherService(context, job);
    refuseFinished(job, options);
    world = await openJobWorld(context, options);
    const exit = await settle(context, job, options, world);
    if (exit !== exits.ok) throw new Ended(exit);
  } finally {
    world?.forget();
    await job.close();
    release();
  }
}

async function settle(
  context: Context,
  job: Job,
  options: CarryOutOptions,
  world: JobWorld,
): Promise<ExitCode> {
  const ending = await send(context, job, options, world);
  const line = () => lastLine(job.table, ending, resumeCommand(context, job.id));
  if (ending.stopped?.by === 'fault') {
    context.warn(...line());
    throw ending.stopped.error;
  }
  let exit = exitOfJob(job.table, ending);
  // A program gets one object, when its exit is certain; a person all that is certain before a long report.
  const { isMachine } = context.printer;
  await recordEnd(context, job, ending, exit);
  if (!isMachine) await printSummary(context, job, exit, line);
  if (exit === exits.ok) context.note(...line());
  else context.warn(...line());
  if (options.report !== undefined) {
    const again = `${resumeCommand(context, job.id).replace('resume', 'report')} --report ${quoted(options.report)}`;
    const reading = { world, timeout: options.waitTimeout, again };
    const reported = await report(context, job, options.report, reading);
    if (reported === 'alarming') {
      exit = exitOfJob(job.table, ending);
      await recordEnd(context, job, ending, exit);
      context.warn(...line());
    } else {
      exit = exitWithReport(exit, reported);
    }
  }
  if (isMachine) await printSummary(context, job, exit, line);
  return exit;
}

function exitWithReport(exit: ExitCode, reported: Reported): ExitCode {
  if (reported === 'incomplete') return exit === exits.ok || exit === exits.partly ? exits.notFinal : exit;
  return reported === 'unwritten' && exit === exits.ok ? exits.machine : exit;
}

function refuseFinished({ id, table }: Job, { retryFailed, wait }: CarryOutOptions): void {
  if (!table.finished || (retryFailed && table.has('failed')) || (wait && !table.final)) return;
  const { tally, ended } = table;
  throw new CliError(
    'job_done',
    exits.refused,
    `the job ${id} ran already${ended ? `, until ${localTime(ended.at)}` : ''}`,
    {
      hint: `${grouped(tally.accepted)} of ${grouped(tally.planned)} were accepted; nothing was sent now. To send it once more, give the bulk command --again`,
      details: { job: id, ended_at: ended?.at ?? null, ...tally },
    },
  );
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
    random: () => context.random(),
  });
  const ending = await display(context, run);
  if (world.replays.count > 0) {
    context.note(
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
    await context.print(summaryView, await summaryOf(id, plan.meta, table, journal, exit));
  } catch (error) {
    context.warn(...line());
    throw isSystemError(error) ? machineError('the journal could not be read again', error) : error;
  }
}

/** The command that goes on with a job, from anywhere. */
export function resumeCommand({ options, sandbox }: Context, id: string): string {
  const { profile, baseUrl, apiKeyFile } = options;
  return [
    `urtuu jobs resume ${id}`,
    ...(sandbox ? ['--sandbox'] : []),
    ...(profile === undefined ? [] : [`--profile ${quoted(profile)}`]),
    ...(baseUrl === undefined ? [] : [`--base-url ${quoted(baseUrl)}`]),
    ...(apiKeyFile === undefined ? [] : [`--api-key-file ${quoted(apiKeyFile)}`]),
  ].join(' ');
}

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
