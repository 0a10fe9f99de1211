import type { PlannedRequest } from '../plan/plan.js';
import type { EntryOf } from './entries.js';
import type { JobState } from './job-state.js';

/**
 * The entry that moves rows of a request to another job. Null when this job would not send any of them again: they
 * were accepted, rejected or taken out. Throws for rows in doubt, which only this job can settle.
 */
export function movedEntry(
  { number, to }: PlannedRequest,
  state: JobState,
  indexes: readonly number[],
): EntryOf<'moved'> | null {
  const phase = state.phase(number);
  const removed = state.removed(number);
  const moved = indexes.filter((index) => !removed.has(index));
  if (phase === 'doubt') throw new Error(`rows of request ${number} are in doubt`);
  if (moved.length === 0 || (phase !== 'pending' && phase !== 'failed')) return null;
  return {
    type: 'moved',
    request: number,
    revision: state.revision(number),
    indexes: moved,
    recipients: to.length - removed.size,
  };
}
