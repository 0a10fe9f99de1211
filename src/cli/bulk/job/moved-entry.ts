import type { PlannedRequest } from '../plan/plan.js';
import { isMoved } from './counts.js';
import type { JobState } from './job-state.js';
import type { MovedEntry } from './journal/entries.js';

/**
 * The entry that moves rows of a request, which this job would no longer send, to another job. Null if another job has
 * them already. Throws for rows that this job may still send.
 */
export function movedEntry(
  { number, to }: PlannedRequest,
  state: JobState,
  indexes: readonly number[],
  job: string,
): MovedEntry | null {
  if (state.isOpen(number) || state.phase(number) === 'alarm')
    throw new Error(`rows of request ${number} are not finished`);
  const removed = state.removed(number);
  const moved = indexes.filter((index) => !isMoved(removed.get(index)));
  if (moved.length === 0) return null;
  return {
    type: 'moved',
    request: number,
    revision: state.revision(number),
    indexes: moved,
    recipients: to.length - removed.size,
    job,
  };
}
