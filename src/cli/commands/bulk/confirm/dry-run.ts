import { jobIdOf } from '../../../bulk/job/keys.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { visible } from '../../../terminal/sanitise.js';
import type { BulkOptions } from '../options.js';
import type { EarlierSends } from '../prepare/sent-before.js';
import { type PreflightParts, preflightOf, preflightView } from './preflight.js';
import { preflightLines } from './preflight-lines.js';

interface DryRun extends Pick<PreflightParts, 'prices'> {
  outcome: PlanOutcome;
  earlier: EarlierSends;
}

/** Prints the preflight of a plan: its lines for people, its figures for programs. */
export async function printDryRun(
  { io, options: { columns, value } }: Pick<Context, 'io' | 'options'>,
  { meta }: FrozenPlan,
  { outcome, earlier, prices }: DryRun,
  { job = jobIdOf(meta), rate, report }: BulkOptions,
): Promise<void> {
  const remaining = { requests: meta.requests, paid: { certain: 0, inDoubt: 0 }, rate };
  const { mask } = io.printer;
  const preflight = preflightOf({ job, meta, input: outcome, prices, remaining, earlier, mask });
  if (io.printer.isMachine || columns !== undefined || value !== undefined)
    return io.print(preflightView, preflight);
  const shown = { ...remaining, ...prices, columns: io.columns, unfinished: earlier.unfinished, report };
  const lines = preflightLines(preflight, outcome.repairs, shown);
  await io.printer.text(lines.map((line) => `${visible(line)}\n`).join(''));
  io.note('This was a dry run: nothing was sent.');
}
