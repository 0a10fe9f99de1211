import { viewJob } from '../../bulk/job/open-job.js';
import { batchesOf, isAcceptedBatch } from '../../bulk/results/summary.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { jobDetailsExample } from '../../output/examples.js';
import { jobDetailsView, jobRow } from './views.js';

export const jobsShow: CommandBody = (command, context) => {
  command
    .description('Show the progress of a job, also while it runs: requests in flight count as in doubt.')
    .argument('<job>', 'name or id of the job');
  addHelp(command, {
    view: jobDetailsView,
    examples: [
      ['urtuu jobs show july-offer', 'its progress'],
      ['urtuu jobs show july-offer --json | jq .pending', 'for a script'],
    ],
    exits: [12],
    json: jobDetailsExample,
  });
  command.action(async (id: string) => {
    const job = await viewJob(context.config.stateDirectory, id, isAcceptedBatch);
    const row = await jobRow(job, context.clock.now());
    await context.io.print(jobDetailsView, { ...row, batches: batchesOf(job.state) });
  });
};
