import type { JobState } from '../../bulk/job/job-state.js';
import { exits } from '../../exit-codes.js';

/** Refusals that a later run may overcome. */
const refusals: readonly (readonly [code: string, reason: string])[] = [
  ['rate_limited', 'rate limited'],
  ['recipient_rate_limited', 'recipients over their cap'],
  ['connection_error', 'no connection'],
  ['timeout', 'no connection'],
];

/** Why an unfinished job is not running, or `cancelled` while it is ending; else null. */
export function reasonOf(
  state: JobState,
  { isCancelled, isRunning }: { isCancelled: boolean; isRunning: boolean },
): string | null {
  if (state.finished) return null;
  if (isCancelled) return 'cancelled';
  if (isRunning || state.untouched) return null;
  switch (state.ended?.exit) {
    case undefined:
      return 'killed';
    case exits.internal:
      return 'internal error';
    case exits.key:
      return 'API key refused';
    case exits.doubt:
      return 'in doubt';
    case exits.money:
      return state.wasRefused('insufficient_credits') ? 'out of credits' : 'at --max-credits';
    case exits.machine:
      return 'disk error';
    case exits.later:
      return refusals.find(([code]) => state.wasRefused(code))?.[1] ?? 'interrupted';
    default:
      return null;
  }
}
