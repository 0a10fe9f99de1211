import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Channel } from '../../../contract/index.js';
import type { JobState } from '../../bulk/job/job-state.js';
import { jobIds, jobsFolder } from '../../bulk/job/jobs-folder.js';
import { readJobId } from '../../bulk/job/keys.js';
import { type JobView, viewJob } from '../../bulk/job/open-job.js';
import type { FrozenPlan } from '../../bulk/plan/plan.js';
import { openPlan, readPlanMeta } from '../../bulk/plan/plan-reader.js';
import { messageHashOf, type SentCounts, SentIndex } from '../../bulk/plan/sent-index.js';
import type { Context } from '../../context.js';

export type RecentContext = Pick<Context, 'io' | 'config' | 'clock'>;

export const recentDays = 7;

/** The new job that recent ones are compared with. */
export interface NewJob {
  channel: Channel;
  baseUrl: string;
  /** Of `--job`; earlier runs of it are the same job. */
  name: string | undefined;
}

/**
 * The messages that jobs of this machine, of the same channel and service, have sent or will send. Null without such
 * jobs. Warns of a job that cannot be read, and does not count it.
 */
export async function recentSends(
  context: RecentContext,
  wanted: NewJob,
  isWanted: (job: JobView) => boolean = () => true,
): Promise<SentIndex | null> {
  const { stateDirectory } = context.config;
  const since = context.clock.now() - recentDays * 86_400_000;
  const index = new SentIndex();
  for (const id of await jobIds(stateDirectory)) {
    if (readJobId(id).base === wanted.name) continue;
    const job = await recentJob(context, id, since);
    if (job === null || !isWanted(job)) continue;
    if (job.meta.channel !== wanted.channel || job.meta.baseUrl !== wanted.baseUrl) continue;
    await addJob(index, job).catch((error: Error) => warnOf(context, id, error));
  }
  return index.isEmpty ? null : index;
}

/**
 * Compares a plan made of reports with the jobs begun after those of the reports: they may have sent some of its rows
 * since. Null without such jobs.
 */
export async function sentSinceReports(
  context: RecentContext,
  wanted: NewJob,
  plan: FrozenPlan,
  reported: readonly string[],
): Promise<SentCounts | null> {
  const { stateDirectory } = context.config;
  // An id from a file becomes a path only if it is the id of a job.
  const here = (await jobIds(stateDirectory)).filter((id) => reported.includes(id));
  const folders = here.map((id) => join(jobsFolder(stateDirectory), id));
  const metas = await Promise.all(folders.map((folder) => readPlanMeta(folder).catch(() => null)));
  const begun = metas.flatMap((meta) => (meta === null ? [] : [meta.created_at])).sort()[0];
  if (begun === undefined) return null;
  const isLater = ({ id, meta }: JobView) => !reported.includes(id) && meta.created_at > begun;
  const index = await recentSends(context, wanted, isLater);
  if (index === null) return null;
  for await (const request of plan.requests()) {
    const message = messageHashOf(request);
    for (const to of request.to) index.count(to, message);
  }
  return index.counts;
}

async function recentJob(context: RecentContext, id: string, since: number): Promise<JobView | null> {
  const { stateDirectory } = context.config;
  try {
    // A time in the future comes from a wrong clock, and counts as recent.
    if ((await lastActive(join(jobsFolder(stateDirectory), id))) < since) return null;
    return await viewJob(stateDirectory, id);
  } catch (error) {
    warnOf(context, id, error as Error);
    return null;
  }
}

function warnOf({ io, config }: RecentContext, id: string, error: Error): void {
  // A refused command discards the job it made.
  if (!existsSync(join(jobsFolder(config.stateDirectory), id))) return;
  io.warn(`cannot read what the job ${id} sent: ${error.message}`);
}

/** Does not read the journal, which may be long. */
async function lastActive(folder: string): Promise<number> {
  const written = await stat(join(folder, 'journal')).catch(() => null);
  const { created_at: created } = await readPlanMeta(folder);
  return Math.max(Date.parse(created), written?.mtimeMs ?? 0);
}

async function addJob(index: SentIndex, { id, folder, state }: JobView): Promise<void> {
  const plan = await openPlan(folder);
  for await (const request of plan.requests()) {
    const sending = sendingOf(state, request.number);
    if (sending === null) continue;
    index.failed += state.failed(request.number);
    const message = messageHashOf(request);
    const removed = state.removed(request.number);
    request.to.forEach((to, at) => {
      if (removed.has(at)) return;
      if (sending === 'sent') index.addSent(to, message);
      else index.addOpen(to, message, id);
    });
  }
}

/** Null for a request that was not sent and will not be. */
function sendingOf(state: JobState, request: number): 'sent' | 'open' | null {
  switch (state.phase(request)) {
    case 'pending':
    case 'doubt':
      return 'open';
    case 'accepted':
      return state.failed(request) === state.recipients(request) ? null : 'sent';
    // The job cannot settle this doubt any more.
    case 'alarm':
      return 'sent';
    default:
      return null;
  }
}
