import { viewJob } from '../../bulk/job.js';
import { describe } from '../../describe.js';
import { jobExample } from '../../output/examples.js';
import type { CommandBody } from '../../program.js';
import { jobRow, jobView } from './views.js';

export const jobsShow: CommandBody = (command, context) => {
  command
    .description('Show how far a job is, also while it runs: what is in flight then counts as in doubt.')
    .argument('<job>', 'name or id of the job');
  describe(command, {
    view: jobView,
    examples: [
      ['urtuu jobs show july-offer', 'how far is it?'],
      ['urtuu jobs show july-offer --json | jq .pending', 'for a script'],
    ],
    exits: [12],
    json: jobExample,
  });
  command.action(async (id: string) => {
    await context.print(
      jobView,
      await jobRow(await viewJob(context.stateDirectory, id), context.clock.now()),
    );
  });
};
