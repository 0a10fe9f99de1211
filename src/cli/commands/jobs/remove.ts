import { type JobView, removeJob } from '../../bulk/job/open-job.js';
import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { resumeOf } from '../bulk/next-command.js';

export const jobsRemove: CommandBody = (command, context) => {
  command
    .description('Forget jobs: plan, journal and receipts. What was sent stays sent.')
    .argument('<job...>', 'names or ids')
    .option('--force', 'also when something is pending or in doubt: nobody can settle it afterwards');
  describe(command, {
    examples: [
      ['urtuu jobs remove july-offer', 'a finished job'],
      ['urtuu jobs remove test --force', 'one that shall never be finished'],
    ],
    exits: [11, 12],
  });
  command.action(async (ids: string[], { force }: { force?: boolean }) => {
    const goOn = (job: JobView) => resumeOf(context, job);
    for (const id of ids) await removeJob(context.config.stateDirectory, id, { force: force ?? false, goOn });
  });
};
