import type { Job } from '../../bulk/job/open-job.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { localTime } from '../../output/cells.js';
import { counted, grouped } from '../../wording.js';
import { resumeCommand } from './next-command.js';
import type { CarryOutOptions } from './options.js';

/** Whether these options leave a job nothing to do. */
export function isDone({ state }: Job, { retryFailed, wait }: CarryOutOptions): boolean {
  return state.finished && !(retryFailed && state.has('failed')) && !(wait && !state.final);
}

/** Exit 11 for a finished job; the hint names the commands that send again. */
export function alreadyDone(context: Context, { id, state }: Job, foreign: boolean): CliError {
  const { tally, ended } = state;
  const at = ended === null ? '' : ` at ${localTime(ended.at)}`;
  const under = foreign ? ', under another API key' : '';
  return new CliError('job_done', exits.refused, `the job ${id} finished${at}${under}`, {
    hint: [
      `${grouped(tally.accepted)} of ${grouped(tally.planned)} were accepted, and nothing was sent now.`,
      'To send to everyone again, add --again to the bulk command.',
      ...failedHint(context, { id, state }, foreign),
    ].join(' '),
    details: { job: id, ended_at: ended?.at ?? null, ...tally },
  });
}

function failedHint(context: Context, { id, state }: Pick<Job, 'id' | 'state'>, foreign: boolean): string[] {
  if (foreign || state.tally.failed === 0) return [];
  const failed = counted(state.tally.failed, 'failed message');
  if (state.has('failed')) {
    return [`To try only the ${failed} again: ${resumeCommand(context, id, { '--retry-failed': true })}`];
  }
  const report = context.config.commandLine(['jobs', 'report', id], { '--report': `${id}.csv` });
  return [`To send to the ${failed} only, use --only failed with the report of: ${report}`];
}

/** Exit 11 for a job whose every acceptance repeats one that this machine did not ask for. */
export function ranElsewhere({ id, state }: Job): CliError {
  const at = state.ranAt === null ? '' : ` at ${localTime(state.ranAt)}`;
  return new CliError(
    'job_done',
    exits.refused,
    `the job ${id} already ran${at}, elsewhere or before its record was lost; nothing new was sent`,
    {
      hint: 'To exit with 0, add --if-finished ok; to send to everyone again, add --again to the bulk command.',
      details: { job: id, ended_at: state.ranAt, ...state.tally },
    },
  );
}
