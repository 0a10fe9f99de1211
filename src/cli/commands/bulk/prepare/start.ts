import type { Entry } from '../../../bulk/job/journal/entries.js';
import type { Job } from '../../../bulk/job/open-job.js';
import { type SharedLimit, sharedLimit } from '../../../bulk/job/shared-limit.js';
import { withStartLock } from '../../../bulk/job/start-lock.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';

/** Between two tries of the lock, in milliseconds. */
const lockPause = 20;
/** A process reading a job of a million recipients does not answer for several seconds. */
const mostUnanswered = 30;

/** Runs `work` while no other command starts a job. */
export function whileStarting<Value>(
  { config, clock, signal }: Pick<Context, 'config' | 'clock' | 'signal'>,
  work: () => Promise<Value>,
): Promise<Value> {
  const pause = () => clock.sleep(lockPause, signal);
  return withStartLock(config.stateDirectory, { pause, mostUnanswered }, work);
}

/** Limits a job to what is left of the limits of the jobs that it is like; only while it starts. */
export async function shareLimit(
  { config }: Pick<Context, 'config'>,
  job: Job,
  like: NonNullable<PlanMeta['like']>,
): Promise<SharedLimit | null> {
  const shared = await sharedLimit(config.stateDirectory, like, job.id);
  if (shared !== null) await recordLimit(job, shared.left);
  return shared;
}

/** Before the first request: a job that is killed until then keeps its limit, and others see it. */
export async function recordLimit({ state, journal }: Job, credits: number): Promise<void> {
  if (credits === state.limit) return;
  const entry: Entry = { type: 'limit', credits };
  await journal.append(entry);
  state.apply(entry);
}
