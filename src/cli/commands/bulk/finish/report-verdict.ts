import { isMoved } from '../../../bulk/job/counts.js';
import type { JobState } from '../../../bulk/job/job-state.js';
import type { PlanMeta, PlannedRequest } from '../../../bulk/plan/plan.js';

/** Why a report is outdated: its job would still send the row, or has sent it since. */
export type Outdated = 'open' | 'sent';

/** A row of a report, and its place in the job. */
export interface ReportedRow {
  request: Pick<PlannedRequest, 'number' | 'kind'>;
  index: number;
  status: string;
  channel: PlanMeta['channel'];
}

/**
 * Whether another job may take a row: `free` at once, `move` after moving it out of its own job, not if it was
 * already `moved`. A row reported as sent is taken on purpose, to send it once more.
 */
export function verdictOf(
  { request, index, status, channel }: ReportedRow,
  state: Pick<JobState, 'phase' | 'revision' | 'removed'>,
): 'free' | 'move' | 'moved' | Outdated {
  const { number, kind } = request;
  if (status === 'sent' || status === 'queued') return 'free';
  const removal = state.removed(number).get(index);
  if (removal !== undefined) return isMoved(removal) ? 'moved' : 'move';
  switch (state.phase(number)) {
    case 'pending':
    case 'doubt':
    case 'alarm':
      return 'open';
    case 'failed':
    case 'rejected':
      return 'move';
    case 'accepted':
      if (status === 'pending' || status === 'rejected') return 'sent';
      // A message of a batch fails after the batch was accepted, and so does an email; a failed SMS was retried.
      return kind === 'single' && (channel === 'sms' || state.revision(number) > 0) ? 'sent' : 'move';
  }
}
