import { openJob, viewJob } from '../../bulk/job/open-job.js';
import { Poller } from '../../bulk/results/poller.js';
import { batchesOf } from '../../bulk/results/summary.js';
import { Recorder } from '../../bulk/send/recorder.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { readDuration } from '../../input/duration.js';
import { jobDetailsExample } from '../../output/examples.js';
import { refuseOtherService } from '../bulk/base-url.js';
import { openJobRuntime } from '../bulk/job-runtime.js';
import { refreshCommand } from '../bulk/next-command.js';
import { carryOutDefaults } from '../bulk/options.js';
import { chosenJob } from './choose-job.js';
import { jobRow } from './job-rows.js';
import { jobDetailsView } from './views.js';

interface Options {
  refresh?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
}

export const jobsShow: CommandBody = (command, context) => {
  command
    .description('Show the progress of a job, even while it runs. Requests in flight count as in doubt.')
    .argument('[job]', 'name or id of the job (default: the only one)')
    .option('--refresh', 'first read from the service what is queued or unknown')
    .option('--wait-timeout <duration>', 'how long to wait for the service (default 10m)', readDuration);
  addHelp(command, {
    view: jobDetailsView,
    effects: ['reads'],
    examples: [
      ['urtuu jobs show july-offer', 'its progress'],
      ['urtuu jobs show july-offer --refresh', 'check the unknown messages again'],
    ],
    exits: [4, 5, 11, 12, 14],
    json: jobDetailsExample,
  });
  command.action(async (given: string | undefined, { refresh, waitTimeout }: Options) => {
    if (waitTimeout !== undefined && !refresh)
      throw usageError('--wait-timeout needs --refresh', 'Add --refresh.');
    const id = given ?? (await chosenJob(context, { verb: 'show', fits: () => true }));
    if (refresh) {
      // Each read is retried separately, with a token for every attempt.
      command.setOptionValueWithSource('maxRetries', 0, 'implied');
      await refreshJob(context, id, waitTimeout ?? carryOutDefaults.waitTimeout);
    }
    const job = await viewJob(context.config.stateDirectory, id);
    const row = await jobRow(job, context.clock.now());
    await context.io.print(jobDetailsView, { ...row, batches: batchesOf(job.state) });
    if (!refresh && row.state === 'finished' && row.queued + row.unknown > 0)
      context.io.note('To check queued and unknown messages again:', refreshCommand(context, job));
  });
};

/**
 * Reads everything in a job that is not final, or unknown, from the service once, and records it. Throws CliError:
 * exit 11 while a process runs the job, 14 for what could not be read.
 */
export async function refreshJob(
  context: Pick<Context, 'io' | 'config' | 'clock' | 'signal' | 'network'>,
  id: string,
  timeout: number,
): Promise<void> {
  const job = await openJob(context.config.stateDirectory, id);
  const { plan, journal, state } = job;
  try {
    await refuseOtherService(context, job);
    if (state.final && state.counts.unknown === 0) return;
    const runtime = await openJobRuntime(context, {});
    const run = { recorder: new Recorder(journal, state), halted: runtime.stop };
    const poller = new Poller({ ...runtime, plan, state, timeout, once: true }, run);
    try {
      await poller.resume();
      poller.close();
      const read = () => poller.run();
      const { final, refused } = await context.io.withProgress('Reading from the service', read);
      if (!final) throw notRead(id, refused);
    } finally {
      runtime.close();
    }
  } finally {
    await job.close();
  }
}

const notRead = (id: string, code: string | null) =>
  new CliError(
    code ?? 'not_final',
    exits.notFinal,
    `not all of the job ${id} could be read: ${code ?? 'timeout'}`,
    { hint: `See what is known: \`urtuu jobs show ${id}\`` },
  );
