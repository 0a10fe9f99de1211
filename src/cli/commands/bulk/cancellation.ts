import { setMaxListeners } from 'node:events';
import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import type { Job, JobView } from '../../bulk/job/open-job.js';
import { cancelled } from '../../bulk/send/ending.js';
import type { Context } from '../../context.js';
import { refusedSend } from '../../errors.js';
import { type ResumeContext, resumeOf } from './next-command.js';

const lookEvery = 1_000;

export interface Cancellation {
  /** Aborted by a signal, or with the reason `cancelled`. */
  stop: AbortSignal;
  close(): void;
}

/** Checks for a cancel mark before it resolves, and then once a second. Throws CliError if it cannot. */
export async function watchForCancel(
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  job: JobView,
): Promise<Cancellation> {
  const first = await cancelMarks(job);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const onSignal = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onSignal);
  if (signal.aborted) onSignal();
  let closed = false;
  let endWait = () => {};
  const obey = (marks: readonly string[]) => {
    if (closed) return;
    if (marks.length > 0) stop.abort(cancelled);
    else endWait = clock.after(lookEvery, () => void look());
  };
  // A folder that cannot be read now may be readable a second later; sending depends only on the journal.
  const look = async () => obey(await cancelMarks(job).catch(() => []));
  obey(first);
  return {
    stop: stop.signal,
    close() {
      closed = true;
      endWait();
      signal.removeEventListener('abort', onSignal);
    },
  };
}

/** Throws as `refuseCancelled`, once the job is closed. */
export const refuseCancelledAndClose = (context: ResumeContext, job: Job): Promise<void> =>
  refuseCancelled(context, job).catch(async (error) => {
    await job.close();
    throw error;
  });

/** Throws CliError (exit 11) for a cancelled job: only `jobs resume` sends the rest. */
export async function refuseCancelled(context: ResumeContext, job: JobView): Promise<void> {
  if ((await cancelMarks(job)).length === 0) return;
  const { id, state } = job;
  const way = `Resume it with: ${resumeOf(context, job)}`;
  throw refusedSend('job_cancelled', `the job ${id} was cancelled`, way, { job: id, ...state.counts });
}
