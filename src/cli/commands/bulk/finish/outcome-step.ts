import type { Job, JobView } from '../../../bulk/job/open-job.js';
import { sandboxBaseUrl } from '../../../bulk/plan/plan.js';
import type { Ending } from '../../../bulk/send/ending.js';
import type { NextStep, PrintedCommand } from '../../../config/printed-command.js';
import type { Context } from '../../../context.js';
import { maskedText } from '../../../output/mask.js';
import { failedSteps, type JobInput, nextSteps, reportCommand, serviceOf } from '../next-command.js';
import type { CarryOutOptions } from '../options.js';

/** What to do about messages that may not have arrived, or whose outcome was not read; null if there are none. */
export function outcomeStep(
  context: Pick<Context, 'config'>,
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
  { waited }: Ending,
): NextStep | null {
  const { unknown, in_doubt: doubt } = state.counts;
  if (unknown > 0 || (doubt > 0 && state.finished))
    return ['To see who they are:', reportCommand(context, id, serviceOf(meta.baseUrl))];
  const isOpen = waited !== null && !waited.final && state.finished;
  return isOpen ? ['Look again with:', refreshCommand(context, { id, meta })] : null;
}

/** Reads the messages that are not final from the service. */
export const refreshCommand = (
  { config }: Pick<Context, 'config'>,
  { id, meta }: Pick<JobView, 'id' | 'meta'>,
): PrintedCommand =>
  config.commandLine(['jobs', 'show', id], {
    '--refresh': true,
    '--sandbox': meta.baseUrl === sandboxBaseUrl,
  });

/** The next steps after a run, most urgent first. */
export function stepsAfter(
  context: Pick<Context, 'config' | 'options' | 'io'>,
  job: Job,
  options: CarryOutOptions,
  ending: Ending,
  input: JobInput | null,
): NextStep[] {
  const isHidden = context.io.printer.mask && input !== null && namesRecipients(input);
  const view = { ...job, meta: job.plan.meta };
  const outcome = outcomeStep(context, view, ending);
  const shown = isHidden ? null : input;
  const all = [
    ...nextSteps(context, job, options, ending, shown),
    ...(outcome === null ? [] : [outcome]),
    ...failedSteps(context, view, options.report, shown),
  ];
  const commands = all.map(([, command]) => command);
  return all.filter(([, command], at) => commands.indexOf(command) === at);
}

/** Its command contains the full texts. */
const namesRecipients = ({ templates: { text = '', html = '', subject = '' } }: JobInput) =>
  [text, html, subject].some((each) => maskedText(each) !== each);
