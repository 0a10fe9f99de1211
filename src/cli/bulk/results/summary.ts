import type { Counts } from '../job/counts.js';
import { JobState } from '../job/job-state.js';
import type { JournalSource } from '../job/journal/journal.js';
import type { JobView } from '../job/open-job.js';
import type { DetailFilter } from '../job/request-details.js';
import type { PlanMeta } from '../plan/plan.js';

/** A batch of a job, as recorded. */
export interface BatchFigures {
  id: string;
  recipients: number;
  credits: number;
  /** The final figures, once they were read: `unknown` of `sent`, where the service says it. */
  sent: number | null;
  failed: number | null;
  unknown: number | null;
}

/** The figures of a job. */
export interface JobSummary extends Counts {
  job: string;
  /** The jobs that took the rows which moved. */
  moved_to: readonly string[];
  /** Rows of a recipient that came before with the same message. */
  merged: number;
  /** Charged for accepted messages. */
  credits: number;
  /** As last seen; null where no answer had it. */
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

/** Of a job that was read with `isAcceptedBatch`. */
export const summaryOfView = (job: JobView): JobSummary => summaryWith(batchesOf(job.state), job);

function summaryWith(
  batches: BatchFigures[],
  { id: job, meta: { merged }, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
): JobSummary {
  const { movedTo, credits, balance } = state;
  return { job, ...state.counts, moved_to: movedTo, merged, credits, balance, batches };
}

/** Chooses the details that `batchesOf` needs. */
export const isAcceptedBatch: DetailFilter = ({ kind }) => kind === 'batch';

/** The accepted batches of a state with their details, in the order they were accepted. */
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
