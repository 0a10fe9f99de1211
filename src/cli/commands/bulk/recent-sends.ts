import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Channel } from '../../../contract/index.js';
import type { JobState } from '../../bulk/job/job-state.js';
import { readJobId } from '../../bulk/job/keys.js';
import { type JobView, jobIds, jobsFolder, viewJob } from '../../bulk/job/open-job.js';
import type { FrozenPlan, PlannedRequest } from '../../bulk/plan/plan.js';
import { openPlan, readPlanMeta } from '../../bulk/plan/plan-reader.js';
import { type Met, messageHash, SentIndex } from '../../bulk/plan/sent-index.js';
import type { Context } from '../../context.js';

/** How long a message that was sent is remembered as one that need not be sent again. */
export const recentDays = 7;

/** The new job that recent ones are compared with. */
export interface NewJob {
  channel: Channel;
  baseUrl: string;
  /** Of `--job`; earlier runs of it are the same job. */
  name: string | undefined;
}

/**
 * Who got a message from this machine lately, or is about to, by jobs of the same channel and service. Null when
 * there was no such job: then nothing is read. Where a job cannot be read it is told of, and not counted.
 */
export async function recentSends(
  context: Context,
  wanted: NewJob,
  isWanted: (job: JobView) => boolean = () => true,
): Promise<SentIndex | null> {
  const since = context.clock.now() - recentDays * 86_400_000;
  const index = new SentIndex();
  for (const id of await jobIds(context.config.stateDirectory)) {
    if (readJobId(id).base === wanted.name) continue;
    const job = await recentJob(context, id, since);
    if (
      job === null ||
      !isWanted(job) ||
      job.meta.channel !== wanted.channel ||
      job.meta.baseUrl !== wanted.baseUrl
    )
      continue;
    await addJob(index, job).catch((error: Error) => warnOf(context, id, error));
  }
  return index.isEmpty ? null : index;
}

/**
 * Who of a plan made of reports got its message from a job since: from another one than those that the reports are
 * of, and begun after them. Null where no such job is known here.
 */
export async function sentSinceReports(
  context: Context,
  wanted: NewJob,
  plan: FrozenPlan,
  reported: readonly string[],
): Promise<Met | null> {
  // What a file says is no path before it is the name of a job.
  const here = (await jobIds(context.config.stateDirectory)).filter((id) => reported.includes(id));
  const folders = here.map((id) => join(jobsFolder(context.config.stateDirectory), id));
  const metas = await Promise.all(folders.map((folder) => readPlanMeta(folder).catch(() => null)));
  const begun = metas.flatMap((meta) => (meta === null ? [] : [meta.created_at])).sort()[0];
  if (begun === undefined) return null;
  const isLater = ({ id, meta }: JobView) => !reported.includes(id) && meta.created_at > begun;
  const index = await recentSends(context, wanted, isLater);
  if (index === null) return null;
  for await (const request of plan.requests()) {
    const message = messageHash(tailOf(request));
    for (const to of request.to) index.has(to, message);
  }
  return index.met;
}

async function recentJob(context: Context, id: string, since: number): Promise<JobView | null> {
  try {
    // The clock may have been wrong once: what looks like the future is recent.
    if ((await lastActive(join(jobsFolder(context.config.stateDirectory), id))) < since) return null;
    return await viewJob(context.config.stateDirectory, id);
  } catch (error) {
    warnOf(context, id, error as Error);
    return null;
  }
}

function warnOf(context: Context, id: string, error: Error): void {
  // A command that was refused discards the job that it made.
  if (!existsSync(join(jobsFolder(context.config.stateDirectory), id))) return;
  context.io.warn(`what the job ${id} sent is not known: ${error.message}`);
}

/** Without reading its journal, which may be long. */
async function lastActive(folder: string): Promise<number> {
  const written = await stat(join(folder, 'journal')).catch(() => null);
  const { created_at: created } = await readPlanMeta(folder);
  return Math.max(Date.parse(created), written?.mtimeMs ?? 0);
}

async function addJob(index: SentIndex, { id, folder, table }: JobView): Promise<void> {
  const plan = await openPlan(folder);
  for await (const request of plan.requests()) {
    const state = stateOf(table, request.number);
    if (state === null) continue;
    index.failed += table.failed(request.number);
    const message = messageHash(tailOf(request));
    const removed = table.removed(request.number);
    request.to.forEach((to, at) => {
      if (removed.has(at)) return;
      if (state === 'sent') index.addSent(to, message);
      else index.addOpen(to, message, id);
    });
  }
}

/** Null for what was not sent and will not be; a doubt that the job cannot clear counts as sent. */
function stateOf(table: JobState, request: number): 'sent' | 'open' | null {
  switch (table.phase(request)) {
    case 'pending':
    case 'doubt':
      return 'open';
    case 'accepted':
      return table.failed(request) === table.recipients(request) ? null : 'sent';
    case 'alarm':
      return 'sent';
    default:
      return null;
  }
}

/** The body after its recipients. */
const tailOf = ({ kind, to, body }: PlannedRequest) =>
  body.slice(`{"to":${JSON.stringify(kind === 'single' ? to[0] : to)},`.length);
