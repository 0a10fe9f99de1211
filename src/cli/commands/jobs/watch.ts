import { followJob } from '../../bulk/job/open-job.js';
import { isAcceptedBatch } from '../../bulk/results/summary.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { summaryExample } from '../../output/examples.js';
import { summaryView } from '../bulk/finish/summary-view.js';
import { chosenJob } from './choose-job.js';
import { endAs, showUntilEnded } from './watch-job.js';

export const jobsWatch: CommandBody = (command, context) => {
  command
    .description('Follow a job until its process ends, print its summary, and exit as it did. Sends nothing.')
    .argument('[job]', 'name or id of the job (default: the only running one)');
  addHelp(command, {
    view: summaryView,
    effects: ['reads'],
    examples: [
      ['urtuu jobs watch july-offer', 'its progress, from another terminal'],
      ['urtuu jobs watch july-offer --quiet && echo done', 'in a script'],
    ],
    json: summaryExample,
    exits: [3, 4, 5, 6, 7, 8, 9, 11, 12, 14],
  });
  command.action(async (given: string | undefined) => {
    const id =
      given ?? (await chosenJob(context, { verb: 'watch', fits: ({ state }) => state === 'running' }));
    const job = await followJob(context.config.stateDirectory, id, isAcceptedBatch);
    await showUntilEnded(context, job);
    await endAs(context, job);
  });
};
