import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { cancelledExample } from '../../output/examples.js';
import { resumeOf } from '../bulk/next-command.js';
import { cancelJob } from './cancel-job.js';
import { chosenJob } from './choose-job.js';
import { type JobRow, jobRow, jobView } from './views.js';

export const jobsCancel: CommandBody<'io' | 'config' | 'clock' | 'options'> = (command, context) => {
  command
    .description(
      'Cancel a job: it finishes the requests in flight and sends no more. Only jobs resume sends the rest.',
    )
    .argument('[job]', 'name or id of the job (default: the only unfinished one)');
  addHelp(command, {
    view: jobView,
    effects: ['changes'],
    examples: [
      ['urtuu jobs cancel july-offer', 'wait up to 30 s until its process has ended'],
      ['urtuu jobs resume july-offer', 'send the rest after all'],
    ],
    ok: 'cancelled, also if it was cancelled before',
    refused: 'refused: the job is finished',
    exits: [11, 12, 14],
    json: cancelledExample,
  });
  command.action(async (given: string | undefined) => {
    const id = given ?? (await chosenJob(context, { verb: 'cancel', fits: isCancellable }));
    const job = await cancelJob(context, id);
    await context.io.print(jobView, await jobRow(job, context.clock.now()));
    context.io.note('Resume it with:', resumeOf(context, job));
  });
};

const isCancellable = ({ state, reason }: JobRow) => state !== 'finished' && reason !== 'cancelled';
