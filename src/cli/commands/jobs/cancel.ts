import { addCancelMark, cancelMarks, removeCancelMarks } from '../../bulk/job/cancel-marks.js';
import { type JobView, onJob, viewJob } from '../../bulk/job/open-job.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { CliError, refusedError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { localTime } from '../../output/cells.js';
import { cancelledExample } from '../../output/examples.js';
import { lockHolder } from '../../platform/lock.js';
import { resumeOf } from '../bulk/next-command.js';
import { chosenJob } from './choose-job.js';
import { type JobRow, jobRow } from './job-rows.js';
import { jobView } from './views.js';

export const jobsCancel: CommandBody<'io' | 'config' | 'clock' | 'options'> = (command, context) => {
  command
    .description(
      'Cancel a job: it finishes the requests in flight and sends no more. Only jobs resume sends the rest.',
    )
    .argument('[job]', 'name or id of the job (default: the only unfinished one)');
  addHelp(command, {
    view: jobView,
    effects: ['changes'],
    examples: [
      ['urtuu jobs cancel july-offer', 'wait up to 30 s until its process has ended'],
      ['urtuu jobs resume july-offer', 'send the rest after all'],
    ],
    ok: 'cancelled, also if it was cancelled before',
    refused: 'refused: the job is finished, or held',
    exits: [11, 12, 14],
    json: cancelledExample,
  });
  command.action(async (given: string | undefined) => {
    const id = given ?? (await chosenJob(context, { verb: 'cancel', fits: isCancellable }));
    const job = await cancelJob(context, id);
    await context.io.print(jobView, await jobRow(job, context.clock.now()));
    context.io.note('Resume it with:', resumeOf(context, job));
  });
};

const isCancellable = ({ state, reason }: JobRow) =>
  state !== 'finished' && state !== 'held' && reason !== 'cancelled';

const mostWait = 30_000;
const lookEvery = 250;

/**
 * Cancels a job, and returns its state once no process runs it. Throws CliError: exit 12 if there is no such job, 11
 * if it is finished, 14 if its process has not ended within 30 s or the job was resumed meanwhile.
 */
async function cancelJob({ config, clock }: Pick<Context, 'config' | 'clock'>, id: string): Promise<JobView> {
  const { stateDirectory } = config;
  const before = await viewJob(stateDirectory, id);
  if (before.state.finished) throw finished(before);
  // Whoever starts it by its plan would revoke the mark.
  if (before.state.held) throw notBegun(before);
  // The mark comes before the check of the lock, while a run takes the lock before it checks for marks. So one of
  // them sees the other.
  const mark = await addCancelMark(before);
  const since = clock.elapsed();
  for (;;) {
    const holder = await onJob(before, lockHolder(before.folder));
    if (holder === null) break;
    if (!(await cancelMarks(before)).includes(mark)) throw stillRunning(id, holder.pid, true);
    if (clock.elapsed() - since >= mostWait) throw stillRunning(id, holder.pid, false);
    await clock.sleep(lookEvery);
  }
  const job = await viewJob(stateDirectory, id);
  if (!job.state.finished) return job;
  await removeCancelMarks(job, [mark]).catch(() => {});
  throw finished(job);
}

function finished({ id, state }: JobView): CliError {
  const at = state.ended === null ? '' : ` at ${localTime(state.ended.at)}`;
  const what = `the job ${id} finished${at}; nothing is left to cancel`;
  const details = { job: id, ended_at: state.ended?.at ?? null, ...state.counts };
  return refusedError('job_done', what, `See its outcome: \`urtuu jobs show ${id}\``, details);
}

const notBegun = ({ id }: JobView) =>
  refusedError(
    'job_held',
    `the job ${id} is held, and has not begun`,
    `Nothing is being sent. To discard it: \`urtuu jobs remove ${id}\``,
    { job: id },
  );

function stillRunning(id: string, pid: number | null, isResumed: boolean): CliError {
  const is = isResumed ? 'was cancelled, and resumed since' : 'is still running';
  const process = pid === null ? '' : ` (pid ${pid})`;
  return new CliError('still_running', exits.notFinal, `the job ${id} ${is}${process}`, {
    hint: isResumed
      ? `To cancel it again: \`urtuu jobs cancel ${id}\``
      : `It is cancelled, and ends after the requests in flight. See: \`urtuu jobs show ${id}\``,
    details: { job: id, pid },
  });
}
