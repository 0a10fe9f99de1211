import type { Counts } from '../job/counts.js';
import type { JobView } from '../job/open-job.js';

/** A recorded batch of a job. */
export interface BatchFigures {
  id: string;
  recipients: number;
  credits: number;
  /** The final figures, once read: `unknown` of `sent`, if the service reports it; `suppressed` of `failed`. */
  sent: number | null;
  failed: number | null;
  unknown: number | null;
  suppressed: number | null;
}

/** The figures of a job. */
export interface JobSummary extends Counts {
  job: string;
  /** The jobs that took the moved rows. */
  moved_to: readonly string[];
  /** Rows whose recipient occurred before with the same message. */
  merged: number;
  /** Rows that `--exclude` left out. */
  excluded: number;
  /** Recipients that `--first` left for later. */
  later: number;
  /** Charged for accepted messages. */
  credits: number;
  /** After the last answer; null if none had it, and where nothing was sent this time. */
  balance: number | null;
  batches: BatchFigures[];
}

export function summaryOf({
  id: job,
  meta: { merged, excluded = 0, rest },
  state,
}: Pick<JobView, 'id' | 'meta' | 'state'>): JobSummary {
  const { movedTo, credits, balance } = state;
  const left = { merged, excluded, later: rest?.recipients ?? 0 };
  return { job, ...state.counts, moved_to: movedTo, ...left, credits, balance, batches: batchesOf(state) };
}

/** The accepted batches of a job, in order of acceptance. */
export function batchesOf(state: JobView['state']): BatchFigures[] {
  return Array.from(state.batches(), (request) => {
    const final = state.finalOf(request);
    return {
      id: state.idOf(request),
      recipients: state.bodySize(request),
      credits: state.creditsOf(request) ?? 0,
      sent: final?.sent ?? null,
      failed: final?.failed ?? null,
      unknown: final?.unknown ?? null,
      suppressed: final === null ? null : (final.suppressed ?? 0),
    };
  });
}
