import { removeJobFolder } from '../../../bulk/job/jobs-folder.js';
import type { Entry } from '../../../bulk/job/journal/entries.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { type SharedLimit, sharedLimit } from '../../../bulk/job/shared-limit.js';
import { withStartLock } from '../../../bulk/job/start-lock.js';
import { isConfirmed, Takers } from '../../../bulk/job/takers.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { lockFolder } from '../../../platform/lock.js';
import type { HeldLock } from '../../../platform/lock-types.js';

/** Between two tries of the lock, in milliseconds. */
const lockPause = 20;
/** A process reading a job of a million recipients does not answer for several seconds. */
const mostUnanswered = 30;

/**
 * Runs `work` while no other process of this user creates a job, or takes rows of one. Before it, removes jobs that
 * were killed before the rows that they have from others were their own: they take nothing. Held ones stay.
 */
export function whileStarting<Value>(
  { config, clock, signal }: Pick<Context, 'config' | 'clock' | 'signal'>,
  work: (lock: HeldLock) => Promise<Value>,
): Promise<Value> {
  const pause = () => clock.sleep(lockPause, signal);
  return withStartLock(config.stateDirectory, { pause, mostUnanswered }, async (start) => {
    for (const taker of (await Takers.in(config.stateDirectory)).all) {
      // Earlier releases recorded the rows apart from the plan, after the question: that job may be resumed.
      if (
        start.isUnguarded ||
        taker.meta.sources === undefined ||
        taker.meta.held !== undefined ||
        (await isConfirmed(taker).catch(() => true))
      )
        continue;
      const lock = await lockFolder(taker.folder);
      if (lock.held) await removeJobFolder(taker.folder, lock);
    }
    return work(start);
  });
}

/** Limits a job to what is left of the limits of the jobs that it is like; only while it starts. */
export async function shareLimit(
  { config }: Pick<Context, 'config'>,
  job: Job,
  like: NonNullable<PlanMeta['like']>,
): Promise<SharedLimit | null> {
  const shared = await sharedLimit(config.stateDirectory, like, job.id);
  if (shared !== null) await recordLimit(job, Math.min(shared.left, job.state.heldPrice ?? Infinity));
  return shared;
}

/** Sets the limit of a job that was killed before it had that of the jobs that it is like; null for any other job. */
export async function shareLimitLater(
  context: Pick<Context, 'config' | 'clock' | 'signal'>,
  job: Job,
): Promise<SharedLimit | null> {
  const { like } = job.meta;
  if (like === undefined || !job.state.untouched || job.state.limit !== null) return null;
  return whileStarting(context, () => shareLimit(context, job, like));
}

/** Before the first request: a job that is killed until then keeps its limit, and others see it. */
export async function recordLimit({ state, journal }: Job, credits: number): Promise<void> {
  if (credits === state.limit) return;
  const entry: Entry = { type: 'limit', credits };
  await journal.append(entry);
  state.apply(entry);
}
