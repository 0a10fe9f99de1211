import { jobIdOf } from '../../../bulk/job/keys.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { visible } from '../../../terminal/sanitise.js';
import type { BulkOptions } from '../options.js';
import { type Findings, preflightView } from './preflight.js';
import { previewOf } from './preflight-lines.js';

/** Prints the preflight of a plan: its lines for people, its figures for programs. */
export async function printDryRun(
  { io, options: { columns, value } }: Pick<Context, 'io' | 'options'>,
  { meta }: FrozenPlan,
  findings: Findings,
  options: BulkOptions,
): Promise<void> {
  const { job = jobIdOf(meta), rate } = options;
  const all = { requests: meta.requests, paid: { certain: 0, inDoubt: 0 }, rate };
  const { preflight, lines } = previewOf(io, { job, meta }, findings, all, options);
  if (io.printer.isMachine || columns !== undefined || value !== undefined)
    return io.print(preflightView, preflight);
  await io.printer.text(lines.map((line) => `${visible(line)}\n`).join(''));
  io.note('This was a dry run: nothing was sent.');
}
