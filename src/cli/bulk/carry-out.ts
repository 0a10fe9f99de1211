import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';
import type { Context } from '../context.js';
import { CliError, Ended, machineError } from '../errors.js';
import { type ExitCode, exits } from '../exit-codes.js';
import { counted, grouped } from '../output/wording.js';
import { fileBuckets } from './bucket.js';
import { isSystemError } from './disk.js';
import { display } from './display.js';
import { type Job, openJob } from './job.js';
import type { CarryOutOptions } from './options.js';
import { exitOfJob, lastLine } from './outcome.js';
import { Pace } from './pace.js';
import { Receipts } from './receipts.js';
import { reportBlocks, writeReport } from './report.js';
import { runJob } from './run.js';
import type { Ending } from './run-options.js';
import { refuseOtherService } from './start.js';
import { summaryForPeople, summaryOf, summaryView } from './summary.js';

/** After a SIGTERM what is in flight has this long; the process has to be gone in 5 s. */
const terminateAfter = 3_500;

/**
 * Sends what is open in a job, waits and reports as the options say, prints the summary, and ends with the
 * job's exit code. Throws CliError (exit 11) when there is nothing left to do, or this is not its service.
 */
export async function carryOut(context: Context, job: Job, options: CarryOutOptions): Promise<void> {
  const release = context.holdSignals();
  let world: World | null = null;
  try {
    await refuseOtherService(context, job);
    refuseFinished(job, options);
    world = await worldOf(context, options);
    const exit = await settle(context, job, options, world);
    if (exit !== exits.ok) throw new Ended(exit);
  } finally {
    world?.forget();
    await job.close();
    release();
  }
}

async function settle(context: Context, job: Job, options: CarryOutOptions, world: World): Promise<ExitCode> {
  const ending = await send(context, job, options, world);
  const line = () => lastLine(job.table, ending, resumeCommand(context, job.id));
  if (ending.stopped?.by === 'fault') {
    context.warn(line());
    throw ending.stopped.error;
  }
  let exit = exitOfJob(job.table, ending);
  const unreported = await report(context, job, options, world);
  if (unreported && exit === exits.ok) exit = exits.machine;
  try {
    await end(context, job, ending, exit);
  } catch (error) {
    context.warn(line());
    throw isSystemError(error) ? machineError('the journal could not be read again', error) : error;
  }
  if (exit === exits.ok) context.note(line());
  else context.warn(line());
  return exit;
}

function refuseFinished({ id, table }: Job, { retryFailed, wait }: CarryOutOptions): void {
  if (!table.finished || (retryFailed && table.has('failed')) || (wait && !table.final)) return;
  const { tally, ended } = table;
  throw new CliError(
    'job_done',
    exits.refused,
    `the job ${id} ran already${ended ? `, until ${ended.at}` : ''}`,
    {
      hint: `${grouped(tally.accepted)} of ${grouped(tally.planned)} were accepted; nothing was sent now. To send it once more: --again`,
      details: { job: id, ended_at: ended?.at ?? null, ...tally },
    },
  );
}

type World = Awaited<ReturnType<typeof worldOf>>;

/** What a job touches outside: the client, the pace it shares, the clock, the signals. */
async function worldOf(context: Context, options: Pick<CarryOutOptions, 'rate'>) {
  const { clock, stateDirectory, signal } = context;
  const sleep = (milliseconds: number, stop?: AbortSignal) => clock.sleep(milliseconds, stop).catch(() => {});
  const pace = new Pace({
    buckets: fileBuckets(join(stateDirectory, 'pace', await projectOf(context))),
    now: () => clock.now(),
    sleep,
    ...(options.rate === undefined ? {} : { perSecond: options.rate }),
  });
  const replays = { count: 0 };
  const forget = context.onExchange(({ kind, rate, replayed }) => {
    pace.ended(kind, rate?.remaining ?? null);
    if (replayed) replays.count += 1;
  });
  const abandon = new AbortController();
  const onSignal = () => {
    if ((signal.reason as Error).cause === 'SIGTERM') void sleep(terminateAfter).then(() => abandon.abort());
  };
  signal.addEventListener('abort', onSignal);
  // Every request in flight listens to it, and stops listening when it ends.
  setMaxListeners(0, abandon.signal);
  const client = await context.client();
  return {
    client,
    pace,
    replays,
    forget() {
      forget();
      signal.removeEventListener('abort', onSignal);
    },
    sleep,
    now: () => clock.now(),
    stop: signal,
    abandon: abandon.signal,
  };
}

/** Names the allowance that is shared: one project's at one service. The key itself is not in it. */
async function projectOf(context: Context): Promise<string> {
  const { baseUrl, key } = context.sandbox ? { baseUrl: 'sandbox:', key: null } : await context.settings();
  return createHash('sha256')
    .update(JSON.stringify([baseUrl, key]))
    .digest('hex')
    .slice(0, 32);
}

async function send(context: Context, job: Job, options: CarryOutOptions, world: World): Promise<Ending> {
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
    wait: wait ? { client: world.client, timeout: waitTimeout } : undefined,
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

/** True when the report that was asked for could not be written. */
async function report(
  context: Context,
  { plan, journal }: Job,
  options: CarryOutOptions,
  world: World,
): Promise<boolean> {
  if (options.report === undefined) return false;
  try {
    const client = world.stop.aborted ? null : world.client;
    const receipts = await Receipts.gather({ ...world, plan, journal, client });
    await writeReport(resolve(context.cwd, options.report), plan, receipts);
    if (!receipts.complete) {
      context.note('The service does not list the messages of a batch: the report has what the batches say.');
    }
    return false;
  } catch (error) {
    if (!(error instanceof CliError) && !isSystemError(error)) throw error;
    context.warn(`there is no report: ${error.message}`);
    return true;
  }
}

/** Records how the run ended, where that can be recorded, and prints the result. */
async function end(context: Context, job: Job, ending: Ending, exit: ExitCode): Promise<void> {
  const { id, plan, table, journal } = job;
  if (ending.stopped?.by !== 'disk') {
    const at = new Date(context.clock.now()).toISOString();
    await journal.append(['end', at, exit, table.balance]).catch(() => {});
  }
  const { printer, options } = context;
  const view = printer.isMachine || options.columns !== undefined ? summaryView : summaryForPeople;
  await context.print(view, await summaryOf(id, plan.meta, table, journal, exit));
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

/** Writes the report of a job that nobody is working on. */
export async function reportJob(
  context: Context,
  id: string,
  options: { report?: string; offline?: boolean },
): Promise<void> {
  const job = await openJob(context.stateDirectory, id);
  try {
    if (!options.offline) await refuseOtherService(context, job);
    const world = options.offline ? null : await worldOf(context, {});
    const receipts = await Receipts.gather({
      plan: job.plan,
      journal: job.journal,
      client: world?.client ?? null,
      pace: world?.pace ?? { take: async () => true, block: () => {} },
      sleep: (milliseconds) => context.clock.sleep(milliseconds),
      stop: context.signal,
    });
    if (options.report === undefined) {
      for await (const block of reportBlocks(job.plan, receipts)) await context.printer.text(block);
    } else {
      await writeReport(resolve(context.cwd, options.report), job.plan, receipts);
    }
  } finally {
    await job.close();
  }
}
