import { folderOf, jobIds } from '../../../bulk/job/jobs-folder.js';
import { readJobId } from '../../../bulk/job/keys.js';
import {
  type Job,
  type JobView,
  jobHeld,
  lockJob,
  viewJob,
  viewJobIfAny,
} from '../../../bulk/job/open-job.js';
import type { RowPlace } from '../../../bulk/job/request-facts.js';
import {
  isSource,
  metaOf,
  placesOf,
  rowsTakenBy,
  sourcesOf,
  type TakenRows,
  Takers,
} from '../../../bulk/job/takers.js';
import { openPlan } from '../../../bulk/plan/files/plan-reader.js';
import { anyMessage, PairSet } from '../../../bulk/plan/pair-set.js';
import type { FrozenPlan, Source } from '../../../bulk/plan/plan.js';
import { isOfDelivery, type ReportedRows } from '../../../bulk/plan/reported-rows.js';
import type { Context } from '../../../context.js';
import { type CliError, machineError, refusedError, refusedSend } from '../../../errors.js';
import type { HeldLock } from '../../../platform/lock-types.js';
import { counted, grouped } from '../../../text/wording.js';
import { type ResumeContext, reportCommand, resumeOf } from '../next-command.js';
import { otherJobs, refuseUnreadable } from './sent-before.js';
import { whileStarting } from './start.js';

type TakeContext = ResumeContext & Pick<Context, 'io' | 'config' | 'clock' | 'network' | 'signal'>;

/** A job, or a plan before it becomes one. */
interface Child {
  /** Null for a plan. */
  id: string | null;
  /** Of all its runs. */
  base: string;
  plan: FrozenPlan;
  /** Of a plan. */
  reported?: ReportedRows;
}

/**
 * Checks that nobody else sends the rows that a plan has from other jobs. Throws CliError: exit 11 if somebody does,
 * or has, 13 if that cannot be known.
 */
export async function checkTaken(context: TakeContext, child: Child, start: HeldLock | null): Promise<void> {
  const taken = await rowsOf(child.plan);
  if (taken.length === 0) return;
  if (start?.isUnguarded)
    throw machineError(
      'without locks on this disk, rows of other jobs could be sent twice',
      null,
      'Nothing was sent this time.',
    );
  const takers = await Takers.in(context.config.stateDirectory);
  const killed = await takers.leaveOutKilled();
  refuseUnread(takers);
  for (const { source, rows } of taken) {
    const others = await othersOf(takers, child, source);
    await checkRows(context, child, { source, rows }, others);
  }
  if (isRepeat(child)) return;
  const sources = taken.map(({ source }) => source);
  const relatives = await takers.relativesOf(sources, child.plan.meta);
  for (const { job } of sources) relatives.delete(job);
  for (const id of killed) relatives.delete(id);
  await refuseSentByRelatives(context, child, sources, relatives);
}

/**
 * Before the first request of a job with rows of others: checks them again, while their jobs are not running, and
 * makes them its own. A held job starts here and nowhere else: `recheck` looks at what others have sent meanwhile, and
 * is missing in a command that may not start it.
 */
export async function confirmTaken(
  context: TakeContext,
  job: Job,
  recheck: (() => Promise<void>) | null,
): Promise<void> {
  const { id, plan, state, journal } = job;
  const sources = state.confirmed ? [] : (await rowsOf(plan)).map(({ source }) => source.job);
  if (sources.length === 0 && !state.held) return;
  if (state.held && recheck === null) throw jobHeld(job, resumeOf(context, job));
  await whileStarting(context, async (start) => {
    const locks: HeldLock[] = [];
    const here = await jobIds(context.config.stateDirectory);
    try {
      for (const source of sources.filter((each) => each !== id && here.includes(each)))
        locks.push(await lockJob(source, folderOf(context.config.stateDirectory, source)));
      await checkTaken(context, { id, base: readJobId(id).base, plan }, start);
      await recheck?.();
      await journal.append({ type: 'confirmed' });
      state.apply({ type: 'confirmed' });
    } finally {
      for (const lock of locks) await lock.release();
    }
  });
}

interface Taken {
  source: Source;
  rows: TakenRows;
}

async function rowsOf({ folder, meta }: FrozenPlan): Promise<Taken[]> {
  try {
    const rows = await rowsTakenBy(folder);
    return (await sourcesOf(folder, meta)).flatMap((source) => {
      const ofSource = rows.get(source.job);
      return ofSource === undefined ? [] : [{ source, rows: ofSource }];
    });
  } catch (error) {
    const { message } = error as Error;
    throw machineError(message, error, 'Remove this job, and start again with a new report.');
  }
}

/** An `--again` run sends once more what others have sent, but nothing that they would still send. */
const isRepeat = ({ plan }: Child) => plan.meta.run !== null;

/** Throws CliError (exit 13) if a job cannot be read: it may have rows of any other one. */
function refuseUnread({ unread }: Takers): void {
  if (unread !== null) refuseUnreadable(unread.id, unread.error);
}

interface Other {
  id: string;
  rows: TakenRows;
}

/** The other jobs that have rows of the same source. */
async function othersOf(takers: Takers, { base }: Child, source: Source): Promise<Other[]> {
  const others: Other[] = [];
  for (const { id, folder } of takers.ofSource(source)) {
    if (readJobId(id).base === base) continue;
    const taken = await rowsTakenBy(folder).catch((error) => refuseUnreadable(id, error));
    const rows = taken.get(source.job);
    if (rows !== undefined) others.push({ id, rows });
  }
  return others;
}

async function checkRows(
  context: TakeContext,
  child: Child,
  { source, rows }: Taken,
  others: readonly Other[],
): Promise<void> {
  const moved = new Map<string, number>();
  const move = (to: string) => {
    if (readJobId(to).base !== child.base) moved.set(to, (moved.get(to) ?? 0) + 1);
  };
  // A job may have the name of the removed one that its rows are from.
  const known =
    source.job === child.id ? null : await viewJobIfAny(context.config.stateDirectory, source.job);
  const job = known !== null && isSource(source, known.id, known.meta.digest) ? known : null;
  if (job === null) {
    const pending = [...rows.statuses.values()].filter((status) => status === 'pending').length;
    if (pending > 0 && !isRepeat(child)) throw unknownJob(source.job, pending);
    for (const line of rows.statuses.keys()) {
      const other = others.find((each) => each.rows.statuses.has(line));
      if (other !== undefined) move(other.id);
    }
  } else {
    const outdated = { open: 0, sent: 0, suppressed: 0 };
    const named = child.reported?.named.get(source.job);
    for (const { status, other, line, ...place } of await placesIn(job, rows, others)) {
      const standing = isOfDelivery(status) ? 'unsent' : job.state.standingOf(place, status);
      const id = line === named?.line ? job.state.idOf(place.request) : '';
      if (id !== '' && id !== named?.id) throw otherReport(context, job.id);
      if (other !== null) move(other);
      else if (typeof standing === 'object') move(standing.to);
      else if (standing !== 'unsent') outdated[standing] += 1;
    }
    if (outdated.open > 0) throw stillOpen(context, job, outdated.open);
    if (outdated.sent > 0) throw oldReport(context, job, 'rows_sent', outdated.sent);
    if (outdated.suppressed > 0) throw oldReport(context, job, 'rows_suppressed', outdated.suppressed);
  }
  if (moved.size > 0 && !isRepeat(child)) throw takenBefore(context, source.job, moved);
}

/** The places of rows in their job, each with the other job that has it. */
async function placesIn({ id, folder }: JobView, rows: TakenRows, others: readonly Other[]) {
  const plan = await openPlan(folder).catch((error) => refuseUnreadable(id, error));
  const places = new Map<string, RowPlace & { status: string; line: number | null; other: string | null }>();
  const takenBy = new Map<string, string>();
  for await (const { by, status, line, request, index } of placesOf(plan, [
    rows,
    ...others.map((each) => each.rows),
  ])) {
    const key = `${request} ${index}`;
    if (by === 0) places.set(key, { request, index, status, line, other: null });
    else takenBy.set(key, others[by - 1]?.id ?? '');
  }
  for (const [key, place] of places) place.other = takenBy.get(key) ?? null;
  return places.values();
}

/** Compares the recipients, as they are by now, with the other jobs that have rows of the same jobs, or theirs. */
async function refuseSentByRelatives(
  context: TakeContext,
  { base, plan }: Child,
  sources: readonly Source[],
  relatives: ReadonlySet<string>,
): Promise<void> {
  const { stateDirectory } = context.config;
  const { channel, baseUrl } = plan.meta;
  const isOther = (id: string) => relatives.has(id) && readJobId(id).base !== base;
  if (![...relatives].some(isOther)) return;
  const plans = await Promise.all(sources.map(({ job }) => metaOf(stateDirectory, job)));
  const begins = plans.map((meta) => (meta === null ? 0 : Date.parse(meta.created_at)));
  const pairs = await PairSet.of(plan, anyMessage);
  await otherJobs(context, {
    ...{ channel, baseUrl, isOther, since: Math.min(...begins), byRecipient: true },
    onUnreadable: refuseUnreadable,
  }).mark(pairs);
  const { sent, open } = pairs.counts();
  for (const [id, count] of open) throw stillOpen(context, await viewJob(stateDirectory, id), count);
  if (sent > 0) throw sentByRelative(sent, pairs);
}

const rowsText = (count: number) => `${grouped(count)} of these rows`;

function stillOpen(context: ResumeContext, job: JobView, count: number): CliError {
  const { id } = job;
  const what = `the job ${id} would still send ${rowsText(count)} itself`;
  const way = `Write a new report once it has finished. To finish it: ${resumeOf(context, job)}`;
  return refusedSend('rows_open', what, way, { job: id, rows: count });
}

/** The name was used again since, or the row was sent again. */
function otherReport(context: ResumeContext, id: string): CliError {
  const what = `the report does not match the job ${id} as it is now`;
  return refusedSend('rows_differ', what, `Write a new report: ${reportCommand(context, id)}`, { job: id });
}

function oldReport(
  context: ResumeContext,
  { id }: JobView,
  code: 'rows_sent' | 'rows_suppressed',
  count: number,
): CliError {
  const what =
    code === 'rows_sent'
      ? `the job ${id} has sent ${rowsText(count)} since the report`
      : `the do-not-send list of the service now has ${rowsText(count)}`;
  const way = `Write a new report: ${reportCommand(context, id)}`;
  return refusedSend(code, what, way, { job: id, rows: count });
}

/** `moved`: how many rows each other job has. */
function takenBefore(context: ResumeContext, id: string, moved: ReadonlyMap<string, number>): CliError {
  const jobs = [...moved.keys()];
  const count = [...moved.values()].reduce((sum, rows) => sum + rows, 0);
  const what = `the job ${jobs.join(' or ')} took ${rowsText(count)} from ${id}`;
  const way = `In a bulk command, --again sends to them once more, even if they have the message. To see what they got: ${reportCommand(context, jobs[0] ?? id)}`;
  return refusedSend('rows_moved', what, way, { job: id, moved_to: jobs, rows: count });
}

function sentByRelative(count: number, pairs: PairSet): CliError {
  const jobs = pairs.senders();
  const what = `the job ${jobs.join(' or ')} has sent to ${counted(count, 'recipient')} of these rows`;
  const details = { job: jobs[0] ?? null, recipients: count };
  return refusedSend('rows_sent', what, 'To send to them once more, add --again.', details);
}

function unknownJob(id: string, count: number): CliError {
  const what = `the job ${id} is not on this machine, and may still send ${rowsText(count)}`;
  const hint = 'Finish it where it was started. If that is impossible, add --again to send these rows.';
  return refusedError('rows_open', what, hint, { job: id, rows: count });
}
