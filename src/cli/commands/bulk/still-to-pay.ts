import type { Job } from '../../bulk/job/job.js';
import type { PlanMeta } from '../../bulk/plan/plan.js';

/** What the rest of a job costs at the prices of today: those of the plan that was just made of the same input. */
export async function stillToPay(
  { plan, table }: Job,
  today: PlanMeta,
  { retryFailed = false }: { retryFailed?: boolean | undefined },
): Promise<number> {
  if (table.untouched) return today.credits;
  let planned = 0;
  for await (const chunk of plan.chunks(retryFailed ? 0 : table.firstOpen())) {
    const isRetried = retryFailed && table.phase(chunk.number) === 'failed';
    if (!table.isOpen(chunk.number) && !isRetried) continue;
    // Where no price was known when the plan was made, every recipient counts the same.
    const whole = plan.meta.credits > 0 ? chunk.credits : chunk.to.length;
    planned += (whole * (chunk.to.length - table.removed(chunk.number).size)) / chunk.to.length;
  }
  const ofAll = plan.meta.credits > 0 ? plan.meta.credits : plan.meta.recipients;
  return Math.ceil((planned * today.credits) / Math.max(1, ofAll));
}
