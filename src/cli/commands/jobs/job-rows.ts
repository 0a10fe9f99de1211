import { join } from 'node:path';
import { isNoJob, jobIds, jobsFolder } from '../../bulk/job/jobs-folder.js';
import { readJobId } from '../../bulk/job/keys.js';
import { viewJob } from '../../bulk/job/open-job.js';
import { readPlanMeta } from '../../bulk/plan/files/plan-reader.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { type JobRow, jobRow } from './views.js';

/** The jobs of this machine, newest first. `damaged` is called with the error of a job that cannot be read. */
export async function* jobRows(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  damaged: (error: CliError) => void,
): AsyncGenerator<JobRow> {
  for (const id of await newestFirst(config.stateDirectory)) {
    try {
      yield await jobRow(await viewJob(config.stateDirectory, id), clock.now());
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (!isNoJob(error)) damaged(error);
    }
  }
}

async function newestFirst(stateDirectory: string): Promise<string[]> {
  const jobs: { id: string; created: number; run: number }[] = [];
  for (const id of await jobIds(stateDirectory)) {
    // A damaged job is reported when it is viewed.
    const meta = await readPlanMeta(join(jobsFolder(stateDirectory), id)).catch(() => null);
    jobs.push({ id, created: Date.parse(meta?.created_at ?? '') || 0, run: readJobId(id).run });
  }
  return jobs.sort((one, other) => other.created - one.created || other.run - one.run).map(({ id }) => id);
}
