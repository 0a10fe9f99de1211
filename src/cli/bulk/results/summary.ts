import type { Counts } from '../job/counts.js';
import { JobState } from '../job/job-state.js';
import type { JournalSource } from '../job/journal/journal.js';
import type { JobView } from '../job/open-job.js';
import type { DetailFilter } from '../job/request-details.js';
import type { PlanMeta } from '../plan/plan.js';

/** A recorded batch of a job. */
export interface BatchFigures {
  id: string;
  recipients: number;
  credits: number;
  /** The final figures, once read: `unknown` of `sent`, if the service reports it. */
  sent: number | null;
  failed: number | null;
  unknown: number | null;
}

/** The figures of a job. */
export interface JobSummary extends Counts {
  job: string;
  /** The jobs that took the moved rows. */
  moved_to: readonly string[];
  /** Rows whose recipient occurred before with the same message. */
  merged: number;
  /** Charged for accepted messages. */
  credits: number;
  /** After the last answer; null if none had it, and where nothing was sent this time. */
  balance: number | null;
  batches: BatchFigures[];
}

export async function summaryOf(
  job: string,
  meta: PlanMeta,
  state: JobState,
  journal: JournalSource,
): Promise<JobSummary> {
  const detailed = meta.batches === 0 ? state : await JobState.read(meta, journal, isAcceptedBatch);
  return summaryWith(batchesOf(detailed), { id: job, meta, state });
}

/** For a job that was read with `isAcceptedBatch`. */
export const summaryOfView = (job: JobView): JobSummary => summaryWith(batchesOf(job.state), job);

function summaryWith(
  batches: BatchFigures[],
  { id: job, meta: { merged }, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
): JobSummary {
  const { movedTo, credits, balance } = state;
  return { job, ...state.counts, moved_to: movedTo, merged, credits, balance, batches };
}

/** Selects the details that `batchesOf` needs. */
export const isAcceptedBatch: DetailFilter = ({ kind }) => kind === 'batch';

/** The accepted batches in a state with their details, in order of acceptance. */
export function batchesOf(state: JobState): BatchFigures[] {
  return [...state.allDetails()].map(([request, { id, credits, final }]) => ({
    id,
    recipients: state.bodySize(request),
    credits: credits ?? 0,
    sent: final?.sent ?? null,
    failed: final?.failed ?? null,
    unknown: final?.unknown ?? null,
  }));
}
