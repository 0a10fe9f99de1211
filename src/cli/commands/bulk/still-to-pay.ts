import type { Job } from '../../bulk/job/open-job.js';
import type { PlanMeta } from '../../bulk/plan/plan.js';

/** What the rest of a job costs at the prices of today: those of the plan that was just made of the same input. */
export async function stillToPay(
  { plan, table }: Job,
  today: PlanMeta,
  { retryFailed = false }: { retryFailed?: boolean | undefined },
): Promise<number> {
  if (table.untouched) return today.credits;
  let planned = 0;
  for await (const request of plan.requests(retryFailed ? 0 : table.firstOpen())) {
    const isRetried = retryFailed && table.phase(request.number) === 'failed';
    if (!table.isOpen(request.number) && !isRetried) continue;
    // Where no price was known when the plan was made, every recipient counts the same.
    const whole = plan.meta.credits > 0 ? request.credits : request.to.length;
    planned += (whole * (request.to.length - table.removed(request.number).size)) / request.to.length;
  }
  const ofAll = plan.meta.credits > 0 ? plan.meta.credits : plan.meta.recipients;
  return Math.ceil((planned * today.credits) / Math.max(1, ofAll));
}
