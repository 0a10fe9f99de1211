import type { JobState } from '../../bulk/job/job-state.js';
import { type Ending, refusalOfKey, wordsOfStop } from '../../bulk/send/ending.js';
import { type ExitCode, exitOfFailure, exits } from '../../exit-codes.js';
import { localTime } from '../../output/cells.js';
import { grouped } from '../../text/wording.js';

export type JudgedState = Pick<
  JobState,
  'counts' | 'finished' | 'final' | 'knowsUnknown' | 'movedTo' | 'ranElsewhere' | 'wasRefused'
>;

/** What counts besides a job's state and the ending of its run. */
export interface Facts {
  /** Whether a job whose acceptances all repeat earlier ones ends with its outcome; it is refused without. */
  allowsReplays?: boolean | undefined;
  /** Rows that `--skip-invalid` left out, perhaps of a file with the same plan as an earlier one. */
  leftOut?: number | undefined;
  /** Of the report; `written` also without one. */
  reported?: Reported | undefined;
  /** The id of a job that had finished before, so that nothing ran. */
  finishedBefore?: string | undefined;
  /** For a look at a job: the exit code of its last run; null if it was killed. */
  lastExit?: ExitCode | null | undefined;
}

/** Of a command that did not run the job. */
export const notRun: Ending = { stopped: null, waited: null };

export type Reported = 'written' | 'incomplete' | 'unwritten';

/** How a command about a job ends. */
export interface Verdict {
  exit: ExitCode;
  /** An error code for programs that says more than the exit code. */
  code: string | null;
  /** For programs: the code of the refusal that left the job unfinished. */
  cause: string | null;
  /** For programs: false if no later run can resolve what is in doubt; else the exit code decides. */
  retryable: false | null;
  /** What happened to the recipients, and what is in doubt. */
  sentence: string;
}

export function judgeJob(state: JudgedState, ending: Ending, facts: Facts = {}): Verdict {
  const exit = exitWith(facts, exitOf(state, ending, facts));
  const isDoubtFinal = state.finished || refusalOfKey(ending.stopped) !== null;
  return {
    exit,
    code: codeOf(ending, exit),
    cause: facts.lastExit === undefined ? causeOf(state, ending, exit) : null,
    retryable: exit === exits.doubt && isDoubtFinal ? false : null,
    sentence:
      facts.finishedBefore === undefined
        ? sentenceOf(state, ending)
        : sentenceOfFinished(state, facts.finishedBefore),
  };
}

/** The exit codes of a finished job. */
const endsJob: ReadonlySet<ExitCode> = new Set([exits.ok, exits.partly, exits.input, exits.notSent]);

/**
 * A look at a job ends as its last run did, unless the state says more: a later run may have been killed, a report may
 * have raised an alarm, a receipt may have arrived, and another job may have taken failed rows.
 */
function exitOf(
  state: JudgedState,
  ending: Ending,
  { lastExit = null, allowsReplays = false }: Facts,
): ExitCode {
  const isWaitOver = lastExit === exits.notFinal && state.final;
  const hadFinished = (lastExit !== null && endsJob.has(lastExit)) || isWaitOver;
  const now = exitNow(state, ending, allowsReplays || hadFinished);
  return lastExit === null || hadFinished || now === exits.doubt ? now : lastExit;
}

/**
 * Doubt comes first, because overlooking it may cost money. 0 only if every recipient was accepted, and with `--wait`,
 * sent. Once all were accepted, it never says that nothing was sent.
 */
function exitNow(state: JudgedState, { stopped, waited }: Ending, allowsReplays: boolean): ExitCode {
  const { planned, accepted, unknown, failed, suppressed, rejected, moved, in_doubt, pending } = state.counts;
  if (stopped?.by === 'fault') return state.finished ? exits.notFinal : exits.internal;
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
  if (state.ranElsewhere && !allowsReplays) return exits.refused;
  if (waited !== null && !waited.final) return exits.notFinal;
  // Suppressed recipients do not count as failed, unless nobody is left.
  if (suppressed > 0 && accepted === 0) return exits.notSent;
  if (unknown + failed + rejected === 0) return exits.ok;
  if (rejected + moved === planned) return exits.input;
  return failed + moved === planned ? exits.notSent : exits.partly;
}

function exitWith({ leftOut = 0, reported = 'written' }: Facts, exit: ExitCode): ExitCode {
  const isSuccess = exit === exits.ok || exit === exits.partly;
  if (reported === 'incomplete' && isSuccess) return exits.notFinal;
  if (exit !== exits.ok) return exit;
  if (leftOut > 0) return exits.partly;
  return reported === 'unwritten' ? exits.machine : exit;
}

function codeOf({ stopped, waited }: Ending, exit: ExitCode): string | null {
  if (exit === exits.key && stopped?.by === 'service') return stopped.code;
  if (exit === exits.money && stopped?.by === 'limit') return 'over_max_credits';
  if (exit !== exits.notFinal) return null;
  return stopped?.by === 'fault' ? 'fault' : (waited?.refused ?? null);
}

function causeOf(state: JudgedState, { stopped }: Ending, exit: ExitCode): string | null {
  if (exit !== exits.later && exit !== exits.doubt) return null;
  if (stopped !== null) return stopped.by === 'service' ? stopped.code : null;
  return state.wasRefused('recipient_rate_limited') ? 'recipient_rate_limited' : null;
}

const some = (count: number, what: string) => (count > 0 ? [`${grouped(count)} ${what}`] : []);

function sentenceOf(state: JudgedState, ending: Ending): string {
  const { accepted, sent, unknown, queued, failed, suppressed, rejected, moved, in_doubt, pending } =
    state.counts;
  const { waited } = ending;
  const isWaited = waited !== null && waited.refused === null;
  const isRead = accepted > 0 && (state.final || unknown > 0 || isWaited);
  const figures = [
    isRead ? `${grouped(sent)} sent` : `${grouped(accepted)} accepted`,
    ...(isRead ? some(queued, 'not final yet') : []),
    ...some(rejected, 'rejected'),
    ...some(failed, 'failed and refunded'),
    ...some(suppressed, 'suppressed (on the do-not-send list)'),
    ...some(moved, `moved to ${state.movedTo.join(' and ') || 'another job'}`),
    ...some(pending, 'not sent yet'),
    ...some(in_doubt, 'in doubt'),
    ...some(
      unknown,
      `unknown: ${unknown === 1 ? 'it may have arrived, and is' : 'they may have arrived, and are'} not sent again`,
    ),
  ];
  return `${why(ending, state)}${figures.join(', ')}.${assurance(state)}`;
}

function sentenceOfFinished({ counts }: JudgedState, id: string): string {
  const open = [...some(counts.unknown, 'unknown'), ...some(counts.in_doubt, 'in doubt')];
  const withOpen = open.length > 0 ? ` with ${open.join(' and ')}` : '';
  return `The job ${id} finished before${withOpen}; nothing was sent this time.`;
}

function assurance({ counts, final, knowsUnknown }: JudgedState): string {
  const { accepted, unknown, in_doubt, pending } = counts;
  if (unknown + in_doubt > 0) return '';
  const isKnown = final && knowsUnknown && pending === 0 && accepted > 0;
  return isKnown ? ' Every outcome is known.' : ' Nothing is in doubt.';
}

function why({ stopped, waited }: Ending, state: JudgedState): string {
  switch (stopped?.by) {
    case 'service':
      if (stopped.opens !== undefined)
        return `The service accepts nothing until ${clockTime(stopped.opens)}. `;
      return `Stopped: ${stopped.detail ?? wordsOfStop(stopped.code)}. `;
    case 'alarm':
      return `Stopped: ${stopped.reason}. `;
    case 'disk':
      return `Stopped: ${unusable[stopped.doing]} (${codeOfError(stopped.error)}), so nothing more was sent. `;
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

/** `08:00` on this machine, to the minute. */
const clockTime = (at: number) => localTime(new Date(at + 30_000).toISOString()).slice(-8, -3);

const unusable = {
  write: 'the journal could not be written',
  read: 'a file of the job could not be read',
};
const codeOfError = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.message;
