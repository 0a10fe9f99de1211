import type { JobState } from '../../../bulk/job/job-state.js';
import { type Ending, refusalOfKey, wordsOfStop } from '../../../bulk/send/ending.js';
import type { NextStep } from '../../../config/printed-command.js';
import type { Context } from '../../../context.js';
import { type ExitCode, exitOfFailure, exits } from '../../../exit-codes.js';
import { grouped } from '../../../text/wording.js';
import type { JobInput, LastLine } from '../next-command.js';

/** Whether a report was written, and whether it is incomplete or alarming. */
export type Reported = 'written' | 'incomplete' | 'alarming' | 'unwritten';

/**
 * The exit code of a job. Doubt comes first, because overlooking it may cost money. 0 only if every recipient was
 * accepted, and with `--wait`, sent. Once all were accepted, it never says that nothing was sent. A job that already
 * ran elsewhere is refused unless `ranElsewhere` is `ok`.
 */
export function exitOfJob(
  state: JobState,
  { stopped, waited }: Ending,
  { ranElsewhere = 'refused' }: { ranElsewhere?: 'refused' | 'ok' } = {},
): ExitCode {
  const { planned, unknown, failed, rejected, moved, in_doubt, pending } = state.counts;
  if (stopped?.by === 'fault') return exits.internal;
  if (stopped?.by === 'disk') return exits.machine;
  if (in_doubt > 0) return exits.doubt;
  if (stopped?.by === 'limit') return exits.money;
  if (stopped?.by === 'alarm') return exits.doubt;
  if (stopped?.by === 'cancel' && pending > 0) return exits.later;
  if (stopped?.by === 'service' && pending > 0) {
    const exit = exitOfFailure(stopped, 'sending');
    // Everything sent was answered, so nothing can be in doubt: the service was unreachable.
    return exit === exits.doubt ? exits.later : exit;
  }
  if (pending > 0) return state.wasRefused('insufficient_credits') ? exits.money : exits.later;
  if (state.ranElsewhere && ranElsewhere === 'refused') return exits.refused;
  if (waited !== null && !waited.final) return exits.notFinal;
  if (unknown + failed + rejected === 0) return exits.ok;
  if (rejected + moved === planned) return exits.input;
  return failed + moved === planned ? exits.notSent : exits.partly;
}

/** An error code for programs that says more than the exit code; null if there is none. */
export function codeOfEnding({ stopped, waited }: Ending, exit: ExitCode): string | null {
  if (exit === exits.key && stopped?.by === 'service') return stopped.code;
  if (exit === exits.money && stopped?.by === 'limit') return 'over_max_credits';
  return exit === exits.notFinal ? (waited?.refused ?? null) : null;
}

/** For programs: the code of the refusal because of which a job is unfinished; null if there is none. */
export function causeOfEnding({ stopped }: Ending, state: JobState, exit: ExitCode): string | null {
  if (exit !== exits.later && exit !== exits.doubt) return null;
  if (stopped !== null) return stopped.by === 'service' ? stopped.code : null;
  return state.wasRefused('recipient_rate_limited') ? 'recipient_rate_limited' : null;
}

/** Tells programs that no later run can resolve what is in doubt: the job has finished, or its key is refused. */
export function attachFinalDoubt(
  { io }: Pick<Context, 'io'>,
  { finished }: JobState,
  exit: ExitCode,
  stopped: Ending['stopped'] = null,
): void {
  if (exit === exits.doubt && (finished || refusalOfKey(stopped) !== null)) io.attach({ retryable: false });
}

/** `--skip-invalid` left out rows, perhaps of a file with the same plan as an earlier one. */
export function exitWithRows(exit: ExitCode, input: JobInput | null): ExitCode {
  return exit === exits.ok && input !== null && input.rejected > 0 ? exits.partly : exit;
}

export function exitWithReport(exit: ExitCode, reported: Reported): ExitCode {
  if (reported === 'incomplete') return exit === exits.ok || exit === exits.partly ? exits.notFinal : exit;
  return reported === 'unwritten' && exit === exits.ok ? exits.machine : exit;
}

/** The warning about an answer that belongs to another request. */
export function alarmText(request: number, reason: string): string {
  return `request ${request}: ${reason}; it is counted as in doubt`;
}

/** The last line: what happened to the recipients, what is in doubt, and the command for the rest. */
export function lastLine(state: JobState, ending: Ending, next: NextStep | null): LastLine {
  const { accepted, sent, unknown, queued, failed, rejected, moved, in_doubt, pending } = state.counts;
  const { waited } = ending;
  const isWaited = waited !== null && waited.refused === null;
  const isRead = accepted > 0 && (state.final || unknown > 0 || isWaited);
  const some = (count: number, what: string) => (count > 0 ? [`${grouped(count)} ${what}`] : []);
  const figures = [
    isRead ? `${grouped(sent)} sent` : `${grouped(accepted)} accepted`,
    ...(isRead ? some(queued, 'not final yet') : []),
    ...some(rejected, 'rejected'),
    ...some(failed, 'failed and refunded'),
    ...some(moved, `moved to ${state.movedTo.join(' and ') || 'another job'}`),
    ...some(pending, 'not sent yet'),
    ...some(in_doubt, 'in doubt'),
    ...some(
      unknown,
      `unknown: ${unknown === 1 ? 'it may have arrived, and is' : 'they may have arrived, and are'} not sent again`,
    ),
  ];
  const text = `${why(ending, state)}${figures.join(', ')}.${assurance(state)}`;
  return next === null ? [text] : [text, next];
}

function assurance({ counts, final, knowsUnknown }: JobState): string {
  const { accepted, unknown, in_doubt, pending } = counts;
  if (unknown + in_doubt > 0) return '';
  const isKnown = final && knowsUnknown && pending === 0 && accepted > 0;
  return isKnown ? ' Every outcome is known.' : ' Nothing is in doubt.';
}

function why({ stopped, waited }: Ending, state: JobState): string {
  switch (stopped?.by) {
    case 'service':
      return `Stopped: ${stopped.detail ?? wordsOfStop(stopped.code)}. `;
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
      if (waited?.refused) return `The outcome could not be read: ${waited.refused}. `;
      return state.wasRefused('recipient_rate_limited') ? 'Some recipients are over their cap. ' : '';
  }
}

const unusable = {
  write: 'the journal could not be written',
  read: 'a file of the job could not be read',
};
const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.message;
