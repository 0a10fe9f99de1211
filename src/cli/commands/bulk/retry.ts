import { jobIds } from '../../bulk/job/jobs-folder.js';
import { longestName } from '../../bulk/job/keys.js';
import { type Job, type JobView, jobHeld, openJob, viewJob, viewJobIfAny } from '../../bulk/job/open-job.js';
import { digestOf, isConfirmed, rowsTakenBy, Takers } from '../../bulk/job/takers.js';
import { keptMessages } from '../../bulk/plan/kept-messages.js';
import { selectedAs } from '../../bulk/plan/select-columns.js';
import type { Receipts } from '../../bulk/results/receipts.js';
import { reportBlocks } from '../../bulk/results/report.js';
import type { Context } from '../../context.js';
import { CliError, Ended, refusedError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { counted, grouped } from '../../text/wording.js';
import { refuseOtherService } from './base-url.js';
import { refuseCancelledAndClose } from './cancellation.js';
import { admitKey } from './confirm/account.js';
import { readAccount } from './confirm/read-account.js';
import { gather } from './finish/report.js';
import { openJobRuntime } from './job-runtime.js';
import { resumeOf } from './next-command.js';
import type { CarryOutOptions } from './options.js';
import { prepareWanted, type WantedJob } from './prepare/prepare.js';
import { recordLimit } from './prepare/start.js';
import { refreshJob } from './refresh.js';
import { carryOut, isRetried, type Start } from './run.js';
import { refuseList } from './same-file.js';

export type Retried = 'failed' | 'undelivered' | 'unknown';

export interface RetryOptions extends CarryOutOptions {
  status: Retried;
  acceptDuplicates?: boolean;
  allowPartial?: boolean;
}

/**
 * Makes a job of the failed rows of another one, and sends it; an unfinished one of the same rows goes on. Throws
 * CliError: exit 14 if an outcome is not final or cannot be read, 11 if there is nothing to send.
 */
export async function retryJob(context: Context, id: string, options: RetryOptions): Promise<void> {
  const { io, config } = context;
  const { status } = options;
  if (options.acceptDuplicates && status !== 'unknown')
    throw usageError('--accept-duplicates needs --status unknown', 'Remove it.');
  if (status === 'unknown' && !options.acceptDuplicates && (context.options.yes || !io.canPrompt))
    throw usageError(
      '--status unknown may send the message to people who already have it',
      'Add --accept-duplicates to accept that.',
    );
  const begun = await unfinishedRetry(config.stateDirectory, id, status);
  if (begun !== null) {
    const job = await openJob(config.stateDirectory, begun);
    await refuseCancelledAndClose(context, job);
    return carryOut(context, job, options);
  }
  const retry = await rowsToRetry(context, id, options);
  if (retry === null) {
    if (options.ifFinished !== 'ok')
      throw nothingToRetry(context, await viewJob(config.stateDirectory, id), status);
    return carryOut(context, await openJob(config.stateDirectory, id), options);
  }
  const { wanted, choices, recipients, unnamed } = retry;
  const leftOut = `${counted(unnamed, `${status} message`)} left out: the service does not list their recipients.`;
  if (recipients === 0) {
    io.conclude(`${leftOut} Nothing was sent this time.`);
    throw new Ended(exits.partly);
  }
  if (unnamed > 0) io.note(leftOut);
  const prepared = await prepareWanted(context, wanted, choices);
  if (prepared !== null)
    await carryOut(context, prepared.job, choices, { leftOut: unnamed, hasPreflight: true });
}

/**
 * Finishes a job, and then does what `jobs retry` does; only a job that was finished before is asked about. The first run
 * prints nothing but its end for a program if messages have failed: it gets the result of the second.
 */
export async function finishAndRetry(
  context: Context,
  job: Job,
  { retryFailed: _, ...options }: CarryOutOptions & Pick<RetryOptions, 'allowPartial'>,
  start: Start,
): Promise<void> {
  const { id, state } = job;
  // The limit is the job's, which the retry shares.
  const { maxCredits, ...ofRetry } = options;
  if (state.finished) {
    if (maxCredits !== undefined) await recordLimit(job, maxCredits).finally(() => job.close());
    else await job.close();
  } else {
    try {
      return await carryOut(context, job, options, { ...start, isFirst: true });
    } catch (error) {
      if (!(error instanceof Ended && isRetried(error.exit, state))) throw error;
    }
  }
  await retryJob(context, id, { ...ofRetry, status: 'failed' });
}

/** The retry of these rows that was begun, and is not finished. */
async function unfinishedRetry(stateDirectory: string, id: string, status: Retried): Promise<string | null> {
  const digest = await digestOf(stateDirectory, id);
  const takers = digest === null ? [] : (await Takers.in(stateDirectory)).of(id, digest);
  for (const taker of takers) {
    // One that nobody has confirmed takes nothing: it is asked about again, under another name.
    const isRetry = retryName.test(taker.id) && taker.sources.length === 1;
    if (!isRetry || !(await isConfirmed(taker).catch(() => true))) continue;
    const statuses = new Set((await rowsTakenBy(taker.folder)).get(id)?.statuses.values());
    if (statuses.size !== 1 || !statuses.has(status)) continue;
    const job = await viewJobIfAny(stateDirectory, taker.id);
    if (job !== null && !job.state.finished) return taker.id;
  }
  return null;
}

const retryName = /-retry-([0-9]+)$/;
const longestRoot = longestName - '-retry-1000000'.length;

/** `july-retry-1`, `july-retry-2`: the first after all that any job is called, or was made from. */
async function nextName(stateDirectory: string, id: string): Promise<string> {
  const root = id.replace(retryName, '').slice(0, longestRoot);
  const { all } = await Takers.in(stateDirectory);
  const sources = all.flatMap(({ sources }) => sources.map(({ job }) => job));
  const names = [...(await jobIds(stateDirectory)), id, ...sources];
  const numbers = names.map((name) =>
    name.replace(retryName, '').slice(0, longestRoot) === root ? retryName.exec(name)?.[1] : undefined,
  );
  return `${root}-retry-${Math.max(0, ...numbers.map((number) => Number(number ?? 0))) + 1}`;
}

interface Retry {
  wanted: WantedJob;
  choices: Parameters<typeof prepareWanted>[2];
  recipients: number;
  /** Failures that nobody can name. */
  unnamed: number;
}

/** Null if there are none. */
async function rowsToRetry(context: Context, id: string, options: RetryOptions): Promise<Retry | null> {
  const { stateDirectory } = context.config;
  await refreshJob(context, id, options.waitTimeout);
  const job = await openJob(stateDirectory, id);
  const runtime = await openJobRuntime(context, {});
  try {
    const { plan, meta, state } = job;
    await refuseOtherService(context, job);
    refuseList(context.config, meta, options.report);
    await admitKey(context, job, options);
    if (!state.finished || state.counts.in_doubt > 0) throw notFinal(context, job);
    const openRuntime = async () => runtime;
    const receipts = await gather(context, job, {
      openRuntime,
      timeout: options.waitTimeout,
      refresh: options.status !== 'failed',
    });
    const unread = receipts.unread ?? (options.status === 'failed' ? null : receipts.unreadDeliveries);
    if (unread !== null) throw notRead(job, unread.code);
    const { requests, recipients } = await selected(job, receipts, options.status);
    const counts = { failed: state.counts.failed, unknown: state.counts.unknown, undelivered: recipients };
    const unnamed = Math.max(0, counts[options.status] - recipients);
    if (recipients + unnamed === 0) return null;
    const { channel, baseUrl, columns, templates = {}, options: kept, digest, like = [] } = meta;
    const client = await context.network.client();
    const pricing = (await readAccount(() => client.pricing.get(), options)).value;
    const composer = await keptMessages(plan, requests);
    const rows = {
      bytes: () => bytesOf(reportBlocks({ id, plan }, receipts)),
      composer,
      path: meta.path,
    };
    const toColumn = columns[plan.input?.recipient ?? -1];
    const name = await nextName(stateDirectory, id);
    return {
      wanted: {
        ...{ channel, baseUrl, pricing, file: id, templates, options: kept, name, rows },
        ...{ like: [{ job: id, digest }, ...like], sharesLimit: options.maxCredits === undefined },
      },
      choices: {
        ...sendingOptions(options),
        ...{ only: [options.status], known: new Set(), job: name, allowRepeats: true },
        ...{ encoding: 'utf-8', delimiter: 'comma', skipSent: true },
        ...(toColumn === undefined ? {} : { toColumn }),
      },
      recipients,
      unnamed,
    };
  } finally {
    runtime.close();
    await job.close();
  }
}

const sendingNames = [
  ...(['concurrency', 'maxWait', 'maxCredits', 'rate', 'wait', 'waitTimeout'] as const),
  ...(['report', 'ifFinished', 'sameProject', 'allowPartial'] as const),
];

/** Without those that say how the list of the other job was read. */
const sendingOptions = (options: RetryOptions) =>
  Object.fromEntries(
    sendingNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  ) as unknown as CarryOutOptions;

async function* bytesOf(blocks: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
  for await (const block of blocks) yield Buffer.from(block);
}

/** The request of each line whose message has a status, and how many recipients these are. */
async function selected(
  { plan }: Job,
  receipts: Receipts,
  status: Retried,
): Promise<{ requests: Map<number, number>; recipients: number }> {
  const requests = new Map<number, number>();
  const places = new Set<number>();
  const wanted = new Set([status]);
  for await (const { line, place } of plan.rows()) {
    if (place === null) continue;
    const receipt = receipts.of(place);
    if (selectedAs(wanted, receipt.status, receipt.delivery) === null) continue;
    requests.set(line, place.request);
    places.add(receipts.positionOf(place));
  }
  return { requests, recipients: places.size };
}

function notFinal(context: Context, job: Job): CliError {
  const { id, state } = job;
  if (state.held) return jobHeld(job, resumeOf(context, job));
  return new CliError('not_final', exits.notFinal, `the job ${id} is not finished`, {
    hint: `Nothing was sent this time. To finish it: ${resumeOf(context, job)}`,
    details: { job: id, ...state.counts },
  });
}

const notRead = ({ id }: Job, code: string) =>
  new CliError(code, exits.notFinal, `not all messages of the job ${id} could be read: ${code}`, {
    hint: 'Nothing was sent this time. Run it again later.',
    details: { job: id },
  });

function nothingToRetry({ config }: Context, { id, state }: JobView, status: Retried): CliError {
  const { movedTo, counts } = state;
  const who = movedTo.map((job) => `${job} (${config.commandLine(['jobs', 'show', job])})`).join(' or ');
  const hint = `Nothing was sent this time.${who === '' ? '' : ` ${grouped(counts.moved)} moved to ${who}.`}`;
  return refusedError('job_done', `the job ${id} has no ${status} messages`, hint, { job: id, ...counts });
}
