import { InvalidArgumentError } from 'commander';
import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import { jobFolder } from '../../bulk/job/jobs-folder.js';
import { type Job, jobHeld, openJob, planName } from '../../bulk/job/open-job.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { type CliError, refusedSend, usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { summaryExample } from '../../output/examples.js';
import { baseUrlOf } from '../bulk/base-url.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { sheetsText } from '../bulk/finish/workbook-report.js';
import { resumeCommand, resumeOf, serviceOf } from '../bulk/next-command.js';
import { addCarryOutOptions, type CarryOutOptions } from '../bulk/options.js';
import { startHeld } from '../bulk/prepare/start-held.js';
import { finishAndRetry } from '../bulk/retry.js';
import { carryOut, type Start } from '../bulk/run.js';
import { chosenJob, type JobSelection } from './choose-job.js';
import type { JobRow } from './job-rows.js';

export const jobsResume: CommandBody = (command, context) => {
  command
    .description(
      'Resume a job from its frozen plan, even a cancelled one. It needs no file, never prompts, and sends as far as the balance goes. A held job needs --plan: it shows the preview, and asks unless --yes is given.',
    )
    .argument('[job]', 'name or id of the job (default: the only stopped one)')
    .option(
      '--plan <plan>',
      'send a held job if this is its plan; for another job, check its plan',
      readPlan,
    );
  addCarryOutOptions(command);
  addHelp(command, {
    view: summaryView,
    effects: ['sends', 'spends'],
    examples: [
      ['urtuu jobs resume july-offer', 'after a crash, a top-up or Ctrl-C'],
      ['urtuu jobs resume july-offer --retry-failed', 'and then send what failed again'],
      ['urtuu jobs resume july-offer --plan 4f2a91c0 --yes', 'send a held job, in a crontab'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (given: string | undefined, options: ResumeOptions) => {
    // The job itself retries, and records every attempt.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    const { stateDirectory } = context.config;
    const { plan, ...ofRun } = options;
    if (given === undefined && plan !== undefined)
      throw usageError('--plan needs the name of its job', 'Name the job: see `urtuu jobs list`');
    const id = given ?? (await chosenJob(context, await resumable(context, options)));
    // Before the lock is taken: a later mark cancels this run.
    const revokedMarks = await cancelMarks({ id, folder: await jobFolder(stateDirectory, id) });
    const job = await openJob(stateDirectory, id);
    const start = { revokedMarks, ...(await started(context, job, options)) };
    if (options.retryFailed)
      await finishAndRetry(withoutQuestion(context), job, { ...ofRun, allowPartial: true }, start);
    else await carryOut(context, job, ofRun, start);
  });
};

interface ResumeOptions extends CarryOutOptions {
  plan?: string;
}

const planForm = /^[0-9a-f]{8,64}$/;

function readPlan(written: string): string {
  const plan = written.toLowerCase();
  if (!planForm.test(plan))
    throw new InvalidArgumentError(`'${written}' is not a plan: copy the one that --hold has printed`);
  return plan;
}

/** Starts a held job. Throws CliError (exit 11) for another plan, or for a held job without its plan. */
async function started(context: Context, job: Job, options: ResumeOptions): Promise<Start> {
  try {
    const { id, meta, state } = job;
    if (options.plan !== undefined && !meta.digest.startsWith(options.plan))
      throw otherPlan(id, meta.digest, options.plan);
    if (state.held) {
      if (options.plan === undefined) throw jobHeld(job, resumeOf(context, job));
      return await startHeld(context, job, options);
    }
    const sheets = sheetsText(options.report, meta);
    if (sheets !== null) context.io.note(`Report      ${sheets}`);
    return {};
  } catch (error) {
    await job.close();
    throw error;
  }
}

function otherPlan(id: string, digest: string, wanted: string): CliError {
  const plan = planName(digest);
  const what = `the job ${id} has the plan ${plan}, not ${planName(wanted)}`;
  const way = `Look at the job before you send it: \`urtuu jobs report ${id}\``;
  return refusedSend('job_differs', what, way, { job: id, plan });
}

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
    state !== 'running' && state !== 'held' && (state !== 'finished' || (retryFailed === true && failed > 0));
  return {
    verb: 'resume',
    fits: (row) => row.base_url === here && isOpen(row),
    refuses: ({ state }) => state === 'held',
    elsewhere: (row) =>
      isOpen(row)
        ? resumeCommand(context, row.job, { ...serviceOf(row.base_url), '--retry-failed': retryFailed })
        : null,
  };
}
