import { refusedError } from '../../errors.js';
import { grouped } from '../../text/wording.js';
import { jobFolder, removeJobFolder } from './jobs-folder.js';
import { type JobView, lockJob, viewJob } from './open-job.js';
import { digestOf, isSource, sourcesOf } from './takers.js';

export interface RemoveOptions {
  /** Also removes a job with rows pending or in doubt, or with the only record of rows moved to it. */
  force: boolean;
  /** The command to resume a job. */
  resumeCommand(job: JobView): string;
}

/** Returns the removed job; null if its record could not be read, which `force` allows. */
export async function removeJob(
  stateDirectory: string,
  id: string,
  options: RemoveOptions,
): Promise<JobView | null> {
  const folder = await jobFolder(stateDirectory, id);
  const lock = await lockJob(id, folder);
  let job: JobView | null = null;
  try {
    job = await viewJob(stateDirectory, id).catch((error) => {
      if (options.force) return null;
      throw error;
    });
    if (job !== null && !options.force) {
      refuseUnfinished(job, options);
      await refuseOnlyRecord(stateDirectory, job);
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
  await removeJobFolder(folder, lock);
  return job;
}

function refuseUnfinished(job: JobView, { resumeCommand }: RemoveOptions): void {
  const { id, state } = job;
  const counts = state.counts;
  const { pending, in_doubt } = counts;
  if (pending + in_doubt === 0 || state.held) return;
  throw refusedError(
    'job_unfinished',
    `the job ${id} is not finished: ${grouped(pending)} pending, ${grouped(in_doubt)} in doubt`,
    `Remove it with --force, or resume it: ${resumeCommand(job)}`,
    { job: id, ...counts },
  );
}

/** The job that rows came from would send those again that this one has sent. */
async function refuseOnlyRecord(stateDirectory: string, { id, folder, meta, state }: JobView): Promise<void> {
  if (!state.confirmed) return;
  for (const source of await sourcesOf(folder, meta)) {
    const { job: from } = source;
    if (!isSource(source, from, await digestOf(stateDirectory, from))) continue;
    const what = `the job ${id} has the only record of rows from ${from}`;
    const hint = `Remove ${from} first, or add --force: its rows may then be sent again.`;
    throw refusedError('rows_moved', what, hint, { job: id, from, ...state.counts });
  }
}
