import { type Job, planName } from '../../../bulk/job/open-job.js';
import type { Context } from '../../../context.js';
import { field, type View } from '../../../output/view.js';
import { visible } from '../../../terminal/sanitise.js';
import { keptOptions, resumeCommand } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import { refuseCost, warnOfRepeats } from './confirm.js';
import { type Findings, type Preflight, preflightView } from './preflight.js';
import { previewOf } from './preflight-lines.js';

/** The result of a command with `--hold`. */
interface Held extends Preflight {
  state: 'held';
  /** As `jobs resume` takes it. */
  plan: string;
  /** The one that sends it. */
  command: string;
}

export const heldView: View<Held> = {
  columns: [field('job'), field('state'), field('plan'), ...preflightView.columns.slice(1), field('command')],
  record: ({ job, state, plan, command, ...preflight }) => ({ job, state, plan, ...preflight, command }),
};

/** Shows the preflight of a held job, and asks nothing. Throws CliError (exit 7) for its price. */
export async function showHeld(
  context: Pick<Context, 'io' | 'network' | 'clock'>,
  job: Job,
  findings: Findings,
  options: BulkOptions,
): Promise<Preflight> {
  const { io } = context;
  const { preflight, lines } = await previewOf(context, job, findings, options);
  for (const line of lines) io.note(line);
  warnOfRepeats(io, findings.earlier);
  refuseCost(preflight, job.state, options, findings.shared);
  return preflight;
}

export async function printHeld(
  context: Pick<Context, 'io' | 'config' | 'options'>,
  { id, meta }: Job,
  preflight: Preflight,
  options: BulkOptions,
): Promise<void> {
  const { printer } = context.io;
  const { columns, value } = context.options;
  const plan = planName(meta.digest);
  const command = resumeCommand(context, id, {
    '--plan': plan,
    ...keptOptions(options),
    '--retry-failed': options.retryFailed,
  });
  if (printer.isMachine || columns !== undefined || value !== undefined)
    return context.io.print(heldView, { ...preflight, state: 'held', plan, command });
  await printer.text(`${visible(`Held ${id}, plan ${plan}. Send it: ${command}`)}\n`);
}

/** Prints the preflight of a plan: its lines for people, its figures for programs. */
export async function printDryRun(
  context: Pick<Context, 'io' | 'options' | 'network' | 'clock'>,
  job: Pick<Job, 'id' | 'plan'>,
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
