import { JobState } from '../job/job-state.js';
import type { JournalSource } from '../job/journal.js';
import type { Tally } from '../job/phases.js';
import type { DetailFilter } from '../job/request-details.js';
import type { PlanMeta } from '../plan/plan.js';

/** A batch of a job, as recorded. */
export interface BatchFigures {
  id: string;
  recipients: number;
  credits: number;
  /** Null until `--wait` has read its final figures. */
  sent: number | null;
  failed: number | null;
}

/** The figures of a job. accepted + rejected + failed + in_doubt + pending = planned. */
export interface JobSummary extends Tally {
  job: string;
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
  { tally, credits, balance }: JobState,
  journal: JournalSource,
): Promise<JobSummary> {
  const batches = meta.batches === 0 ? [] : batchesOf(await JobState.read(meta, journal, isAcceptedBatch));
  return { job, ...tally, merged: meta.merged, credits, balance, batches };
}

/** Chooses the details that `batchesOf` needs. */
export const isAcceptedBatch: DetailFilter = ({ kind }) => kind === 'batch';

/** The accepted batches of a state with their details, in the order they were accepted. */
export function batchesOf(state: JobState): BatchFigures[] {
  return [...state.allDetails()].map(([request, { id, credits, final }]) => ({
    id,
    recipients: state.recipients(request),
    credits: credits ?? 0,
    sent: final?.sent ?? null,
    failed: final?.failed ?? null,
  }));
}
