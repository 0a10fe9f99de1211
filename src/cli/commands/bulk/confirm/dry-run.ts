import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { visible } from '../../../terminal/sanitise.js';
import type { BulkOptions } from '../options.js';
import { type Findings, preflightView } from './preflight.js';
import { previewOf } from './preflight-lines.js';

/** Prints the preflight of a plan: its lines for people, its figures for programs. */
export async function printDryRun(
  context: Pick<Context, 'io' | 'options' | 'network' | 'clock'>,
  job: { id: string; plan: FrozenPlan },
  findings: Findings,
  options: BulkOptions,
): Promise<void> {
  const { io } = context;
  const { columns, value } = context.options;
  const { preflight, lines } = await previewOf(context, job, findings, options);
  if (io.printer.isMachine || columns !== undefined || value !== undefined)
    return io.print(preflightView, preflight);
  await io.printer.text(lines.map((line) => `${visible(line)}\n`).join(''));
  io.note('This was a dry run: nothing was sent.');
}
