import { addCancelMark, cancelMarks, removeCancelMarks } from '../../bulk/job/cancel-marks.js';
import { type JobView, jobError, viewJob } from '../../bulk/job/open-job.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { localTime } from '../../output/cells.js';
import { lockHolder } from '../../platform/lock.js';

const mostWait = 30_000;
const lookEvery = 250;

/**
 * Cancels a job, and returns its state once no process runs it. Throws CliError: exit 12 if there is no such job, 11
 * if it is finished, 14 if its process has not ended within 30 s or the job was resumed meanwhile.
 */
export async function cancelJob(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  id: string,
): Promise<JobView> {
  const { stateDirectory } = config;
  const before = await viewJob(stateDirectory, id);
  if (before.state.finished) throw finished(before);
  // The mark comes before the check of the lock, while a run takes the lock before it checks for marks. So one of
  // them sees the other.
  const mark = await addCancelMark(before);
  const since = clock.elapsed();
  for (;;) {
    const holder = await lockHolder(before.folder).catch((error) => {
      throw jobError(before, error);
    });
    if (holder === null) break;
    if (!(await cancelMarks(before)).includes(mark)) throw resumed(id, holder.pid);
    if (clock.elapsed() - since >= mostWait) throw stillRunning(id, holder.pid);
    await clock.sleep(lookEvery);
  }
  const job = await viewJob(stateDirectory, id);
  if (!job.state.finished) return job;
  await removeCancelMarks(job, [mark]).catch(() => {});
  throw finished(job);
}

function finished({ id, state }: JobView): CliError {
  const at = state.ended === null ? '' : ` at ${localTime(state.ended.at)}`;
  return new CliError('job_done', exits.refused, `the job ${id} finished${at}; nothing is left to cancel`, {
    hint: `See its outcome: \`urtuu jobs show ${id}\``,
    details: { job: id, ended_at: state.ended?.at ?? null, ...state.counts },
  });
}

function stillRunning(id: string, pid: number | null): CliError {
  return new CliError('still_running', exits.notFinal, `the job ${id} is still running${processOf(pid)}`, {
    hint: `It is cancelled, and ends after the requests in flight. See: \`urtuu jobs show ${id}\``,
    details: { job: id, pid },
  });
}

function resumed(id: string, pid: number | null): CliError {
  return new CliError(
    'still_running',
    exits.notFinal,
    `the job ${id} was cancelled, and resumed since${processOf(pid)}`,
    { hint: `To cancel it again: \`urtuu jobs cancel ${id}\``, details: { job: id, pid } },
  );
}

const processOf = (pid: number | null) => (pid === null ? '' : ` (pid ${pid})`);
