import type { Job } from '../../bulk/job/open-job.js';
import type { PlanMeta } from '../../bulk/plan/plan.js';

/** Credits for the rest of a job at the current prices: those of `current`, a new plan of the same input. */
export async function remainingCredits(
  { plan, state }: Job,
  current: PlanMeta,
  { retryFailed = false }: { retryFailed?: boolean | undefined },
): Promise<number> {
  if (state.untouched) return current.credits;
  let planned = 0;
  for await (const request of plan.requests(retryFailed ? 0 : state.firstOpen())) {
    const isRetried = retryFailed && state.phase(request.number) === 'failed';
    if (!state.isOpen(request.number) && !isRetried) continue;
    // A plan without prices counts every recipient the same.
    const whole = plan.meta.credits > 0 ? request.credits : request.to.length;
    planned += (whole * (request.to.length - state.removed(request.number).size)) / request.to.length;
  }
  const ofAll = plan.meta.credits > 0 ? plan.meta.credits : plan.meta.recipients;
  return Math.ceil((planned * current.credits) / Math.max(1, ofAll));
}
