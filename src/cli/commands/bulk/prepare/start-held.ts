import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readJobId } from '../../../bulk/job/keys.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { ShownOutcome } from '../../../bulk/plan/build-plan.js';
import { costNow } from '../../../bulk/plan/cost.js';
import { planFile } from '../../../bulk/plan/files/plan-format.js';
import type { Context } from '../../../context.js';
import { refuseOtherService } from '../base-url.js';
import { checkKey } from '../confirm/account.js';
import { confirmSend } from '../confirm/confirm.js';
import { readAccount, readPrices } from '../confirm/read-account.js';
import type { BulkOptions, CarryOutOptions } from '../options.js';
import type { Start } from '../run.js';
import { type EarlierSends, sentSinceHold } from './earlier-sends.js';
import { otherJobs, pairsOf, type SentContext } from './sent-before.js';
import { shareLimitLater } from './start.js';

/**
 * Shows the preflight of a held job at the prices of now, and asks for confirmation as a bulk command does. Returns what
 * its run needs to start it. Throws CliError: exit 2 if declined, 7 for the price, 11 for what others have sent since.
 */
export async function startHeld(context: Context, job: Job, options: CarryOutOptions): Promise<Start> {
  await refuseOtherService(context, job);
  await checkKey(context, job, options);
  const { meta } = job.plan;
  const client = await context.network.client();
  const { value: pricing, error } = await readAccount(() => client.pricing.get(), options);
  // Nobody can say whether its limit holds.
  if (error !== null && job.state.spendLimit !== null) throw error;
  const prices = await readPrices(context, pricing, options);
  const shared = await shareLimitLater(context, job);
  const look = await sendsSinceHold(context, job);
  const earlier = await look();
  const cost = pricing === null ? meta.cost : await costNow(job.plan, pricing);
  const current = { ...meta, cost, credits: cost.reduce((sum, { credits }) => sum + credits, 0) };
  const findings = { outcome: meta.held as ShownOutcome, earlier, prices, shared };
  const { allowPartial = false, where, exclude } = (meta.options ?? {}) as Partial<BulkOptions>;
  const priced = { ...job, plan: { ...job.plan, meta: current } };
  const shown = { ...(where && { where }), ...(exclude && { exclude }) };
  await confirmSend(context, priced, current, findings, { ...options, ...shown, allowPartial });
  return {
    hasPreflight: true,
    recheck: async () => {
      const now = await look();
      if (now.recipients > earlier.recipients) throw sentSinceHold(job.id, now);
    },
  };
}

/** Between the clocks of the service, in milliseconds. */
const clockSkew = 3_600_000;

/** What other jobs have sent since a job was held, or began to send: each call of the result looks again. */
async function sendsSinceHold(
  context: SentContext,
  { id, plan }: Pick<Job, 'id' | 'plan'>,
): Promise<() => Promise<EarlierSends>> {
  const { channel, baseUrl, created_at: at, held } = plan.meta;
  const heldHere = (await stat(join(plan.folder, planFile))).mtimeMs;
  // By the service's clock, or this machine's if that is behind, as the times of other jobs are.
  const heldAt = Math.min(Date.parse(at), heldHere);
  // A job that wrote its journal since, by the same clock, may have sent before by another one; one that did not has
  // not, but the service tells the time in whole seconds.
  const sinceOf = (written: number) => heldAt + (written >= heldHere ? -clockSkew : 1_000);
  // By a clock that was ahead, nothing would be later.
  const since = heldAt <= context.clock.now() ? { sinceOf } : {};
  // Its earlier runs are why it was held with --again.
  const { base } = readJobId(id);
  const isOther = (other: string) => readJobId(other).base !== base;
  const jobs = otherJobs(context, { channel, baseUrl, isOther, ...since });
  const pairs = await pairsOf(plan, (held as ShownOutcome).isNew);
  return async () => {
    await jobs.mark(pairs);
    const { sent, open } = pairs.counts();
    const unfinished = [...open.values()].reduce((sum, count) => sum + count, 0);
    const recipients = sent + unfinished;
    return { recipients, unfinished, skipped: false, toConfirm: recipients, open, sinceHold: true };
  };
}
