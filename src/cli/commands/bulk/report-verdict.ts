import type { JobState } from '../../bulk/job/job-state.js';
import type { PlanMeta, PlannedRequest } from '../../bulk/plan/plan.js';

/** Why a report can no longer be believed: its job would still send the row, or has sent it since. */
export type Outdated = 'open' | 'sent';

/** A row of a report: where it is in its job, and what the report says of it. */
export interface ReportedRow {
  request: Pick<PlannedRequest, 'number' | 'kind'>;
  index: number;
  status: string;
  channel: PlanMeta['channel'];
}

/**
 * Whether another job may take a row: `free` as it is, `move` once its own job has given it up. A row that the
 * report says was sent is taken on purpose, to send to it once more.
 */
export function verdictOf(
  { request, index, status, channel }: ReportedRow,
  table: Pick<JobState, 'phase' | 'removed' | 'revision'>,
): 'free' | 'move' | Outdated {
  const { number, kind } = request;
  if (status === 'sent' || status === 'queued' || table.removed(number).has(index)) return 'free';
  switch (table.phase(number)) {
    case 'pending':
    case 'doubt':
    case 'alarm':
      return 'open';
    case 'failed':
      return 'move';
    case 'rejected':
      return 'free';
    case 'accepted':
      if (status === 'pending' || status === 'rejected') return 'sent';
      // A message of a batch fails after the batch was accepted, and so does an email; an SMS was tried again.
      return kind === 'single' && (channel === 'sms' || table.revision(number) > 0) ? 'sent' : 'free';
  }
}
