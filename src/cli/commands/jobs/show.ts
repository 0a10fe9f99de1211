import { viewJob } from '../../bulk/job/open-job.js';
import { batchesOf } from '../../bulk/results/summary.js';
import type { CommandBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { readDuration } from '../../input/duration.js';
import { jobDetailsExample } from '../../output/examples.js';
import { refreshCommand, resumeOf } from '../bulk/next-command.js';
import { carryOutDefaults } from '../bulk/options.js';
import { refreshJob } from '../bulk/refresh.js';
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
    .option('--refresh', 'first check queued and unknown messages with the service')
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
    if (row.state === 'held') context.io.note('Send it with:', resumeOf(context, job));
    if (!refresh && row.state === 'finished' && row.queued + row.unknown > 0)
      context.io.note('To check queued and unknown messages again:', refreshCommand(context, job));
  });
};
