import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { grouped } from '../../wording.js';
import { jobFolder, removeJobFolder } from './jobs-folder.js';
import { type JobView, lockJob, viewJob } from './open-job.js';

export interface RemoveOptions {
  /** Also when something is pending or in doubt, which nothing can settle without the plan. */
  force: boolean;
  /** The command that resumes a job. */
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
    if (job !== null && !options.force) refuseUnfinished(job, options);
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
  if (pending + in_doubt === 0) return;
  throw new CliError(
    'job_unfinished',
    exits.refused,
    `the job ${id} is not finished: ${grouped(pending)} pending, ${grouped(in_doubt)} in doubt`,
    {
      hint: `Remove it with --force, or resume it: ${resumeCommand(job)}`,
      details: { job: id, ...counts },
    },
  );
}
