import type { Job } from '../../../bulk/job/open-job.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';

export interface RemainingCredits {
  left: number;
  /** How many of these are for requests in doubt, which the service may already have charged. */
  inDoubt: number;
}

/** Credits for the rest of a job at current prices, which are those of `current`, a new plan of the same input. */
export async function remainingCredits(
  { plan, state }: Job,
  current: PlanMeta,
  { retryFailed = false }: { retryFailed?: boolean | undefined },
): Promise<RemainingCredits> {
  if (state.untouched) return { left: current.credits, inDoubt: 0 };
  let planned = 0;
  let doubtful = 0;
  for await (const request of plan.requests(retryFailed ? 0 : state.firstOpen())) {
    const isRetried = retryFailed && state.phase(request.number) === 'failed';
    if (!state.isOpen(request.number) && !isRetried) continue;
    const all = request.to.length;
    // A plan without prices counts the same for every recipient.
    const whole = plan.meta.credits > 0 ? request.credits : all;
    const rest = (whole * (all - state.removed(request.number).size)) / all;
    planned += rest;
    if (state.phase(request.number) === 'doubt') doubtful += rest;
  }
  const ofAll = plan.meta.credits > 0 ? plan.meta.credits : plan.meta.recipients;
  const priceOf = (part: number) => Math.ceil((part * current.credits) / Math.max(1, ofAll));
  return { left: priceOf(planned), inDoubt: priceOf(doubtful) };
}
