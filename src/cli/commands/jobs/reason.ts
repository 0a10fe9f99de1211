import type { JobState } from '../../bulk/job/job-state.js';
import { wordsOfStop } from '../../bulk/send/ending.js';
import { exits } from '../../exit-codes.js';

/** What a later run may overcome. */
const temporary = ['rate_limited', 'recipient_rate_limited', 'connection_error', 'timeout'];

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
      return state.wasRefused('insufficient_credits')
        ? wordsOfStop('insufficient_credits')
        : 'at --max-credits';
    case exits.machine:
      return 'disk error';
    case exits.later:
      return temporary.filter((code) => state.wasRefused(code)).map(wordsOfUnsent)[0] ?? 'interrupted';
    default:
      return null;
  }
}

/** Of what never left: no connection was made in time. */
const wordsOfUnsent = (code: string) => wordsOfStop(code === 'timeout' ? 'connection_error' : code);
