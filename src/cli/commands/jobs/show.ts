import { batchesOf, viewJob } from '../../bulk/job/open-job.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { jobDetailsExample } from '../../output/examples.js';
import { jobDetailsView, jobRow } from './views.js';

export const jobsShow: CommandBody = (command, context) => {
  command
    .description('Show how far a job is, also while it runs: what is in flight then counts as in doubt.')
    .argument('<job>', 'name or id of the job');
  describe(command, {
    view: jobDetailsView,
    examples: [
      ['urtuu jobs show july-offer', 'how far is it?'],
      ['urtuu jobs show july-offer --json | jq .pending', 'for a script'],
    ],
    exits: [12],
    json: jobDetailsExample,
  });
  command.action(async (id: string) => {
    const job = await viewJob(context.config.stateDirectory, id);
    const row = await jobRow(job, context.clock.now());
    await context.io.print(jobDetailsView, { ...row, batches: await batchesOf(job) });
  });
};
