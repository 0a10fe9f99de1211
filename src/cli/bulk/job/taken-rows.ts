import type { PlannedRequest } from '../plan/plan.js';
import type { JobState } from './job-state.js';
import type { RequestEntry } from './journal.js';

/**
 * The entry that hands rows of a request over to another job. Null when this job would not send any of them
 * again: they were accepted, rejected or taken out. Throws for rows in doubt, which only this job can settle.
 */
export function movedEntry(
  { number, to }: PlannedRequest,
  table: JobState,
  indexes: readonly number[],
): Extract<RequestEntry, ['moved', ...unknown[]]> | null {
  const phase = table.phase(number);
  const removed = table.removed(number);
  const moved = indexes.filter((index) => !removed.has(index));
  if (phase === 'doubt') throw new Error(`rows of request ${number} are in doubt`);
  if (moved.length === 0 || (phase !== 'pending' && phase !== 'failed')) return null;
  return ['moved', number, table.revision(number), moved, to.length - removed.size];
}
