import type { JobState } from '../../bulk/job/job-state.js';
import type { Ending } from '../../bulk/send/ending.js';
import { type ExitCode, exitOfFailure, exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';
import type { LastLine, LeftOut, NextStep } from './next-command.js';

/** Whether a report was written, and whether anything in it is missing or alarming. */
export type Reported = 'written' | 'incomplete' | 'alarming' | 'unwritten';

/**
 * The exit code of a job. Doubt comes first, since it may cost money to overlook it. 0 only when every recipient was
 * accepted, and with `--wait` sent. A job that ran elsewhere is refused unless `ranElsewhere` is `ok`.
 */
export function exitOfJob(
  state: JobState,
  { stopped, waited }: Ending,
  { ranElsewhere = 'refused' }: { ranElsewhere?: 'refused' | 'ok' } = {},
): ExitCode {
  const { planned, accepted, rejected, failed, in_doubt, pending } = state.tally;
  if (stopped?.by === 'fault') return exits.internal;
  if (stopped?.by === 'disk') return exits.machine;
  if (in_doubt > 0) return exits.doubt;
  if (stopped?.by === 'limit') return exits.money;
  if (stopped?.by === 'alarm') return exits.doubt;
  if (stopped?.by === 'cancel' && pending > 0) return exits.later;
  if (stopped?.by === 'service') {
    const exit = exitOfFailure(stopped, 'sending');
    // Everything that left was answered, so nothing can be in doubt: the service was away.
    return exit === exits.doubt ? exits.later : exit;
  }
  if (pending > 0) return state.wasRefused('insufficient_credits') ? exits.money : exits.later;
  if (state.ranElsewhere && ranElsewhere === 'refused') return exits.refused;
  if (waited !== null && !waited.final) {
    return waited.refused === null ? exits.notFinal : exitOfFailure(waited.refused, 'reading');
  }
  if (accepted === planned) return exits.ok;
  if (rejected === planned) return exits.input;
  return failed === planned ? exits.notSent : exits.partly;
}

/** `--skip-invalid` left rows out, perhaps of a file with the same plan as an earlier one. */
export function exitWithRows(exit: ExitCode, leftOut: LeftOut | null): ExitCode {
  return exit === exits.ok && leftOut !== null ? exits.partly : exit;
}

export function exitWithReport(exit: ExitCode, reported: Reported): ExitCode {
  if (reported === 'incomplete') return exit === exits.ok || exit === exits.partly ? exits.notFinal : exit;
  return reported === 'unwritten' && exit === exits.ok ? exits.machine : exit;
}

/** The warning about an answer that is not for its request. */
export function alarmText(request: number, reason: string): string {
  return `request ${request}: ${reason}; it is counted as in doubt`;
}

/** The last line: the certain figures, those in doubt, and the command for the rest. */
export function lastLine(state: JobState, ending: Ending, next: NextStep | null): LastLine {
  const { accepted, rejected, failed, in_doubt, pending } = state.tally;
  const unknown = accepted - state.sent;
  const certain = [
    // Only --wait knows the final figures of everything accepted.
    ...(ending.waited?.final ? [`${grouped(accepted)} sent`] : [`${grouped(accepted)} accepted`]),
    ...(ending.waited?.final === false && unknown > 0 ? [`${grouped(unknown)} of them not final yet`] : []),
    ...(rejected > 0 ? [`${grouped(rejected)} rejected`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed and refunded`] : []),
    ...(pending > 0 ? [`${grouped(pending)} not sent yet`] : []),
  ];
  const doubt = in_doubt > 0 ? `in doubt: ${grouped(in_doubt)}` : 'nothing in doubt';
  const text = `${why(ending)}Certain: ${certain.join(', ')}; ${doubt}.`;
  return next === null ? [text] : [`${text} ${next[0]}`, next[1]];
}

function why({ stopped }: Ending): string {
  switch (stopped?.by) {
    case 'service':
      return `Stopped: ${stopped.code}. `;
    case 'alarm':
      return `Stopped: ${stopped.reason}. `;
    case 'disk':
      return `Stopped: ${unusable[stopped.doing]} (${codeOf(stopped.error)}), so nothing more was sent. `;
    case 'signal':
      return 'Stopped. ';
    case 'cancel':
      return 'Cancelled. ';
    case 'fault':
      return 'Stopped by an internal error. ';
    case 'limit':
      return 'Stopped at --max-credits. ';
    default:
      return '';
  }
}

const unusable = {
  write: 'the journal could not be written',
  read: 'a file of the job could not be read',
};
const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.message;
