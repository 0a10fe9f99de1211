import { openJob } from '../../bulk/job/open-job.js';
import { summaryView } from '../../bulk/results/summary.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { summaryExample } from '../../output/examples.js';
import { addCarryOutOptions, type CarryOutOptions } from '../bulk/options.js';
import { carryOut } from '../bulk/run.js';

export const jobsResume: CommandBody = (command, context) => {
  command
    .description('Go on with a job from its frozen plan; the file is not needed, and nothing is asked.')
    .argument('<job>', 'name or id of the job');
  addCarryOutOptions(command);
  describe(command, {
    view: summaryView,
    sends: true,
    examples: [
      ['urtuu jobs resume july-offer', 'after a crash, a top-up or Ctrl-C'],
      ['urtuu jobs resume july-offer --retry-failed --report report.csv', 'try failed singles again'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (id: string, options: CarryOutOptions) => {
    // The job retries by itself, with a record of every try.
    command.setOptionValueWithSource('maxRetries', 0, 'implied');
    await carryOut(context, await openJob(context.config.stateDirectory, id), options);
  });
};
