import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import { jobFolder } from '../../bulk/job/jobs-folder.js';
import { openJob } from '../../bulk/job/open-job.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { addHelp } from '../../help/command-help.js';
import { summaryExample } from '../../output/examples.js';
import { baseUrlOf } from '../bulk/base-url.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { sheetsText } from '../bulk/finish/workbook-report.js';
import { resumeCommand, serviceOf } from '../bulk/next-command.js';
import { addCarryOutOptions, type CarryOutOptions } from '../bulk/options.js';
import { finishAndRetry } from '../bulk/retry.js';
import { carryOut } from '../bulk/run.js';
import { chosenJob, type JobSelection } from './choose-job.js';
import type { JobRow } from './job-rows.js';

export const jobsResume: CommandBody = (command, context) => {
  command
    .description(
      'Resume a job from its frozen plan, even a cancelled one. It needs no file, never prompts, and sends as far as the balance goes.',
    )
    .argument('[job]', 'name or id of the job (default: the only stopped one)');
  addCarryOutOptions(command);
  addHelp(command, {
    view: summaryView,
    effects: ['sends', 'spends'],
    examples: [
      ['urtuu jobs resume july-offer', 'after a crash, a top-up or Ctrl-C'],
      ['urtuu jobs resume july-offer --retry-failed', 'and then send what failed again'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (given: string | undefined, options: CarryOutOptions) => {
    // The job itself retries, and records every attempt.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const { stateDirectory } = context.config;
    const id = given ?? (await chosenJob(context, await resumable(context, options)));
    // Before the lock is taken: a later mark cancels this run.
    const revokedMarks = await cancelMarks({ id, folder: await jobFolder(stateDirectory, id) });
    const job = await openJob(stateDirectory, id);
    const sheets = sheetsText(options.report, job.plan.meta);
    if (sheets !== null) context.io.note(`Report      ${sheets}`);
    if (options.retryFailed)
      await finishAndRetry(
        withoutQuestion(context),
        job,
        { ...options, allowPartial: true },
        { revokedMarks },
      );
    else await carryOut(context, job, options, { revokedMarks });
  });
};

const withoutQuestion = (context: Context): Context => ({
  ...context,
  options: { ...context.options, yes: true },
});

/** Leaves out jobs of other services, which a run would refuse. */
async function resumable(
  context: Pick<Context, 'config'>,
  { retryFailed }: CarryOutOptions,
): Promise<JobSelection> {
  const here = await baseUrlOf(context.config);
  const isOpen = ({ state, failed }: JobRow) =>
    state !== 'running' && (state !== 'finished' || (retryFailed === true && failed > 0));
  return {
    verb: 'resume',
    fits: (row) => row.base_url === here && isOpen(row),
    elsewhere: (row) =>
      isOpen(row)
        ? resumeCommand(context, row.job, { ...serviceOf(row.base_url), '--retry-failed': retryFailed })
        : null,
  };
}
