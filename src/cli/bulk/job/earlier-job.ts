import { isSameBaseUrl } from '../../../contract/index.js';
import { once } from '../../once.js';
import { pairsOfReadings, sendsTheSame } from '../plan/earlier-reading.js';
import { planOf, readPlanRecord } from '../plan/files/plan-reader.js';
import type { FrozenPlan } from '../plan/plan.js';
import { folderOf, jobIds } from './jobs-folder.js';
import { jobIdOf, readJobId } from './keys.js';
import { onJob } from './open-job.js';

/** A plan and the jobs that the release at e5bfb29c made of the same list and texts, whose bytes are others. */
export interface EarlierJobs {
  /** Whether a job sends the same as the plan. */
  isSame(id: string): Promise<boolean>;
  /** The id of the job without `--job`; null for none. */
  unnamed(): Promise<string | null>;
}

/** `isNew`: see PlanOutcome; without it, other bytes are another plan. */
export function earlierJobsOf(stateDirectory: string, plan: FrozenPlan, isNew: boolean): EarlierJobs {
  const { channel, baseUrl, recipients } = plan.meta;
  const pairs = once(() => pairsOfReadings(plan));
  const recordOf = (id: string) => readPlanRecord(folderOf(stateDirectory, id)).catch(() => null);
  async function isSame(id: string): Promise<boolean> {
    const record = isNew ? await recordOf(id) : null;
    if (record === null) return false;
    const { meta } = record;
    const isOfService = meta.channel === channel && isSameBaseUrl(meta.baseUrl, baseUrl);
    // It may have planned a recipient twice, with and without a blank.
    if (!isOfService || meta.recipients < recipients) return false;
    const folder = folderOf(stateDirectory, id);
    return onJob({ id, folder }, sendsTheSame(await pairs(), planOf(folder, record)));
  }
  return {
    isSame,
    async unnamed() {
      const ids = isNew ? await jobIds(stateDirectory) : [];
      if (ids.includes(jobIdOf(plan.meta))) return null;
      for (const id of ids) {
        const { base } = readJobId(id);
        const record = await recordOf(id);
        if (record !== null && jobIdOf(record.meta) === base && (await isSame(id))) return base;
      }
      return null;
    },
  };
}
