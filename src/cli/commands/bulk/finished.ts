import type { Job } from '../../bulk/job/open-job.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { localTime } from '../../output/cells.js';
import { counted, grouped } from '../../wording.js';
import { resumeCommand } from './next-command.js';
import type { CarryOutOptions } from './options.js';

/** Whether these options leave a job nothing to do. */
export function isDone({ table }: Job, { retryFailed, wait }: CarryOutOptions): boolean {
  return table.finished && !(retryFailed && table.has('failed')) && !(wait && !table.final);
}

/** Exit 11 for a job that is done: when it finished, and what can still be done about what failed. */
export function alreadyDone(context: Context, { id, table }: Job, foreign: boolean): CliError {
  const { tally, ended } = table;
  const at = ended === null ? '' : ` at ${localTime(ended.at)}`;
  const under = foreign ? ', under another API key' : '';
  return new CliError('job_done', exits.refused, `the job ${id} finished${at}${under}`, {
    hint: [
      `${grouped(tally.accepted)} of ${grouped(tally.planned)} were accepted, and nothing was sent now.`,
      'To send to everyone again, add --again to the bulk command.',
      ...failedHint(context, { id, table }, foreign),
    ].join(' '),
    details: { job: id, ended_at: ended?.at ?? null, ...tally },
  });
}

function failedHint(context: Context, { id, table }: Pick<Job, 'id' | 'table'>, foreign: boolean): string[] {
  if (foreign || table.tally.failed === 0) return [];
  const failed = counted(table.tally.failed, 'failed message');
  if (table.has('failed')) {
    return [`To try only the ${failed} again: ${resumeCommand(context, id, { '--retry-failed': true })}`];
  }
  const report = context.config.commandLine(['jobs', 'report', id], { '--report': `${id}.csv` });
  return [`To send to the ${failed} only, use --only failed with the report of: ${report}`];
}

/** Exit 11 for a job whose every acceptance repeats an earlier one: this machine did not send it. */
export function ranElsewhere({ id, table }: Job): CliError {
  const at = table.ranAt === null ? '' : ` at ${localTime(table.ranAt)}`;
  return new CliError(
    'job_done',
    exits.refused,
    `the job ${id} already ran${at}, elsewhere or before its record was lost; nothing new was sent`,
    {
      hint: 'To take that for a success, add --if-finished ok; to send to everyone again, add --again to the bulk command.',
      details: { job: id, ended_at: table.ranAt, ...table.tally },
    },
  );
}
