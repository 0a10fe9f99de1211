import { isSystemError } from '../../bulk/job/append-file.js';
import type { JobState } from '../../bulk/job/job-state.js';
import type { Ending } from '../../bulk/send/run.js';
import { type ExitCode, exitOfFailure, exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';

/**
 * The exit code of a job. Doubt goes first, since it may cost money to overlook it; 0 only when every
 * recipient was accepted, and with `--wait` sent. A job that ran elsewhere is refused, unless the caller
 * takes a finished job for a success (`ranElsewhere: 'ok'`).
 */
export function exitOfJob(
  table: JobState,
  { stopped, waited }: Ending,
  { ranElsewhere = 'refused' }: { ranElsewhere?: 'refused' | 'ok' } = {},
): ExitCode {
  const { planned, accepted, rejected, failed, in_doubt, pending } = table.tally;
  if (stopped?.by === 'fault') return exits.fault;
  if (stopped?.by === 'disk') return exits.machine;
  if (in_doubt > 0) return exits.doubt;
  if (stopped?.by === 'limit') return exits.money;
  if (stopped?.by === 'alarm') return exits.doubt;
  if (stopped?.by === 'service') {
    const exit = exitOfFailure(stopped, 'sending');
    // Everything that left was answered, so nothing can be in doubt: the service was away.
    return exit === exits.doubt ? exits.later : exit;
  }
  if (pending > 0) return table.wasRefused('insufficient_credits') ? exits.money : exits.later;
  if (table.ranElsewhere && ranElsewhere === 'refused') return exits.refused;
  if (waited !== null && !waited.final) {
    return waited.refused === null ? exits.notFinal : exitOfFailure(waited.refused, 'reading');
  }
  if (accepted === planned) return exits.ok;
  if (rejected === planned) return exits.input;
  return failed === planned ? exits.notSent : exits.partly;
}

/** Why a run ends with an error: what this machine refuses is no fault of the program. */
export function stoppedBy(error: unknown, journalFault: Error | null): NonNullable<Ending['stopped']> {
  if (journalFault !== null) return { by: 'disk', doing: 'write', error: journalFault };
  return isSystemError(error) ? { by: 'disk', doing: 'read', error } : { by: 'fault', error };
}

/** The last line: what is certain, what is in doubt, and the command for what is left to do. */
export function lastLine(
  table: JobState,
  ending: Ending,
  next: readonly [text: string, command: string] | null,
): [text: string, command?: string] {
  const { accepted, rejected, failed, in_doubt, pending } = table.tally;
  const unknown = accepted - table.sent;
  const certain = [
    // Only after waiting is it known what became of everything that was accepted.
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
    case 'fault':
      return 'Stopped by a fault. ';
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
