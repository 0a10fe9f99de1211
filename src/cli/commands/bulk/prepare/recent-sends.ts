import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Channel, isSameBaseUrl } from '../../../../contract/index.js';
import { JobState } from '../../../bulk/job/job-state.js';
import { jobIds, jobsFolder } from '../../../bulk/job/jobs-folder.js';
import { readJobId } from '../../../bulk/job/keys.js';
import { readJournal } from '../../../bulk/job/open-job.js';
import { openPlan, readPlanMeta } from '../../../bulk/plan/files/plan-reader.js';
import type { FrozenPlan, PlanMeta } from '../../../bulk/plan/plan.js';
import {
  type MessageHash,
  messageHashOf,
  type SentCounts,
  SentIndex,
} from '../../../bulk/plan/sent-index.js';
import { ReceiptStore } from '../../../bulk/results/receipt-store.js';
import type { Context } from '../../../context.js';

export type RecentContext = Pick<Context, 'io' | 'config' | 'clock' | 'network'>;

export const recentDays = 7;

/** The new job that recent ones are compared with. */
export interface NewJob {
  channel: Channel;
  baseUrl: string;
  /** The name from `--job`; earlier runs with it are the same job. */
  name: string | undefined;
}

/** Which jobs are compared. */
export interface Choice {
  /** By id alone, before the job is read. */
  hasId?: (id: string) => boolean;
  hasMeta?: (meta: PlanMeta) => boolean;
  /** Only sends at or after this time, in milliseconds since 1970, instead of the recent ones. */
  since?: number;
}

/** Receives what the compared jobs have sent or will send. */
export interface Sends {
  addSent(recipient: string, message: MessageHash, job: string): void;
  /** Sent in a batch of which some messages failed, unknown whose. */
  addUncertain(recipient: string, message: MessageHash, job: string): void;
  addOpen(recipient: string, message: MessageHash, job: string): void;
}

/**
 * The messages that jobs of this machine, on the same channel and service, have sent recently or will send. Null
 * without such jobs.
 */
export async function recentSends(
  context: RecentContext,
  wanted: NewJob,
  choice?: Choice,
): Promise<SentIndex | null> {
  const index = new SentIndex();
  await addSends(context, wanted, index, choice);
  return index.isEmpty ? null : index;
}

/** Warns of a job that cannot be read, and does not count it. */
export async function addSends(
  context: RecentContext,
  wanted: NewJob,
  sends: Sends,
  { hasId = () => true, hasMeta = () => true, since = recentSince(context) }: Choice = {},
): Promise<void> {
  const { stateDirectory } = context.config;
  for (const id of await jobIds(stateDirectory)) {
    if (readJobId(id).base === wanted.name || !hasId(id)) continue;
    try {
      const folder = join(jobsFolder(stateDirectory), id);
      const meta = await readPlanMeta(folder);
      if (meta.channel !== wanted.channel || !isSameBaseUrl(meta.baseUrl, wanted.baseUrl)) continue;
      if (hasMeta(meta)) await addJob(sends, { id, folder, meta }, since);
    } catch (error) {
      warnOf(context, id, error as Error);
    }
  }
}

/** By the service's clock, or this machine's if that is behind: with a clock in the future, every send would be old. */
function recentSince({ clock, network }: RecentContext): number {
  const now = clock.now();
  return Math.min(now, network.lastExchange?.serviceTime ?? now) - recentDays * 86_400_000;
}

/**
 * Compares a plan made from reports with the other jobs started since the reports' jobs, which may have sent some of
 * its rows meanwhile. It compares all recent jobs if a report's job is not here, or is not named. Null without such
 * jobs.
 */
export async function sentSinceReports(
  context: RecentContext,
  wanted: NewJob,
  plan: FrozenPlan,
  /** Recipients already counted are not counted again. */
  { reported, counted }: { reported: readonly string[]; counted: SentIndex | null },
): Promise<SentCounts | null> {
  const { stateDirectory } = context.config;
  // An id from a file is used in a path only if a job has it.
  const here = (await jobIds(stateDirectory)).filter((id) => reported.includes(id));
  const folders = here.map((id) => join(jobsFolder(stateDirectory), id));
  const metas = await Promise.all(folders.map((folder) => readPlanMeta(folder).catch(() => null)));
  const begins = metas.flatMap((meta) => (meta === null ? [] : [meta.created_at])).sort();
  const isKnown = reported.length > 0 && begins.length === reported.length;
  const begun = (isKnown && begins[0]) || '';
  const later = await recentSends(context, wanted, {
    hasId: (id) => !reported.includes(id),
    hasMeta: ({ created_at: at }) => at >= begun,
  });
  return countIn(later, plan, counted);
}

/** Compares a plan with the jobs created while it was planned. Null without such jobs. */
export async function sentMeanwhile(
  context: RecentContext,
  wanted: NewJob,
  plan: FrozenPlan,
  known: ReadonlySet<string>,
): Promise<SentCounts | null> {
  return countIn(await recentSends(context, wanted, { hasId: (id) => !known.has(id) }), plan);
}

async function countIn(
  index: SentIndex | null,
  plan: FrozenPlan,
  counted: SentIndex | null = null,
): Promise<SentCounts | null> {
  if (index === null) return null;
  for await (const request of plan.requests()) {
    const message = messageHashOf(request);
    for (const to of request.to) if (!counted?.isCounted(to, message)) index.count(to, message);
  }
  return index.counts;
}

function warnOf({ io, config }: RecentContext, id: string, error: Error): void {
  // A refused command discards the job it created.
  if (!existsSync(join(jobsFolder(config.stateDirectory), id))) return;
  io.warn(`cannot read what the job ${id} sent: ${error.message}`);
}

interface RecentJob {
  id: string;
  folder: string;
  meta: PlanMeta;
}

async function addJob(sends: Sends, { id, folder, meta }: RecentJob, since: number): Promise<void> {
  const written = (await stat(join(folder, 'journal')).catch(() => null))?.mtimeMs ?? 0;
  const isNew = Date.parse(meta.created_at) >= since;
  // Nothing was recorded since, so the journal, which may be long, is not read.
  if (!isNew && written < since) return;
  const state = new JobState(meta);
  await readJournal(folder, 0, (entry) => state.apply(entry));
  const isActive = isNew || state.isActiveSince(since, written);
  if (!isActive) return;
  const plan = await openPlan(folder);
  const failures = await failuresIn({ id, folder, meta }, state);
  for await (const request of plan.requests()) {
    const { number } = request;
    const sending = sendingOf(state, number);
    if (sending === null || (sending === 'sent' && state.sentAt(number, written) < since)) continue;
    const failed = failures.get(number);
    const isUncertain = failed === undefined && state.failed(number) > 0;
    const message = messageHashOf(request);
    const removed = state.removed(number);
    request.to.forEach((to, at) => {
      if (removed.has(at) || failed?.has(at)) return;
      if (sending === 'open') sends.addOpen(to, message, id);
      else if (isUncertain) sends.addUncertain(to, message, id);
      else sends.addSent(to, message, id);
    });
  }
}

/** Whose messages failed, by position in the planned request, in the batches of which a report has read it. */
async function failuresIn(
  { id, folder, meta }: RecentJob,
  state: JobState,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const failures = new Map<number, ReadonlySet<number>>();
  const mayHaveFailed = (request: number) => state.finalOf(request)?.failed !== 0;
  if (![...state.batches()].some(mayHaveFailed)) return failures;
  const store = await ReceiptStore.open(folder, { id, digest: meta.digest }, { isShared: true });
  await store?.read((request, batch, receipts) => {
    if (receipts === null) failures.delete(request);
    else if (state.idOf(request) === batch && mayHaveFailed(request))
      failures.set(
        request,
        new Set(receipts.filter(({ status }) => status === 'failed').map(({ index }) => index)),
      );
  });
  await store?.close();
  return failures;
}

/** Null for a request that was not and will not be sent. */
function sendingOf(state: JobState, request: number): 'sent' | 'open' | null {
  switch (state.phase(request)) {
    case 'pending':
    case 'doubt':
      return 'open';
    case 'accepted':
      return state.failed(request) === state.recipients(request) ? null : 'sent';
    // The job can no longer resolve this doubt.
    case 'alarm':
      return 'sent';
    default:
      return null;
  }
}
