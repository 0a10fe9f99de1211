import { comparedRecipient } from '../../../contract/index.js';
import { statusOfRemoval } from '../../bulk/job/counts.js';
import { jobIds } from '../../bulk/job/jobs-folder.js';
import { type JobView, viewJob } from '../../bulk/job/open-job.js';
import { Takers } from '../../bulk/job/takers.js';
import { openPlan } from '../../bulk/plan/files/plan-reader.js';
import { sandboxBaseUrl } from '../../bulk/plan/plan.js';
import type { Context } from '../../context.js';
import type { HistoryEntry, Sent } from '../../history/file.js';

/** The entry of a job that starts to send; it remains the newest one if the process is killed. */
export function startOfJob({ id, meta, state }: JobView): Sent {
  const { channel } = meta;
  const { planned } = state.counts;
  return { command: `${channel} bulk`, channel, status: 'unfinished', job: id, planned };
}

/** The entry of a finished job, with its counts. */
export function entryOfJob(job: JobView): Sent {
  const { state } = job;
  return {
    ...startOfJob(job),
    status: state.finished ? 'finished' : 'unfinished',
    ...state.counts,
    credits: state.credits,
  };
}

/** The place of a recipient, in its normal form, in the jobs of this machine. Warns of a job that cannot be read. */
export async function entriesOfRecipient(
  { config, io }: Pick<Context, 'config' | 'io'>,
  to: string,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  const takers = await Takers.in(config.stateDirectory);
  const compared = comparedRecipient(to);
  for (const job of await jobIds(config.stateDirectory)) {
    try {
      const { folder, meta, state } = await viewJob(config.stateDirectory, job, takers);
      for await (const request of (await openPlan(folder)).requests()) {
        const index = request.to.findIndex((each) => comparedRecipient(each) === compared);
        if (index === -1) continue;
        const removal = state.removed(request.number).get(index);
        entries.push({
          time: state.ended?.at ?? meta.created_at,
          base_url: meta.baseUrl === sandboxBaseUrl ? 'sandbox' : meta.baseUrl,
          profile: null,
          command: `${meta.channel} bulk`,
          to: request.to[index] ?? null,
          channel: meta.channel,
          id: state.idOf(request.number) || null,
          status: removal === undefined ? state.statusOf(request.number) : statusOfRemoval(removal),
          key: null,
          job,
        });
      }
    } catch (error) {
      io.warn(`cannot read the job ${job}: ${(error as Error).message}`);
    }
  }
  return entries;
}
