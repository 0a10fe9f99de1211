import { outcomes } from '../../bulk/job/counts.js';
import type { JobView } from '../../bulk/job/open-job.js';
import { removeJob } from '../../bulk/job/remove-job.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { grouped } from '../../text/wording.js';
import { resumeOf } from '../bulk/next-command.js';

export const jobsRemove: CommandBody<'io' | 'config' | 'options'> = (command, context) => {
  command
    .description(
      'Remove jobs with their plan, journal and outcomes. --skip-sent no longer knows their messages.',
    )
    .argument('<job...>', 'names or ids')
    .option('--force', "even if rows are pending or in doubt, or another job's rows are recorded only here");
  addHelp(command, {
    effects: ['changes'],
    examples: [
      ['urtuu jobs remove july-offer', 'a finished job'],
      ['urtuu jobs remove test --force', 'an unfinished job'],
    ],
    exits: [11, 12],
  });
  command.action(async (ids: string[], { force }: { force?: boolean }) => {
    const options = {
      force: force ?? false,
      resumeCommand: (job: JobView) => resumeOf(context, job),
    };
    for (const id of ids) {
      const removed = await removeJob(context.config.stateDirectory, id, options);
      context.io.note(`Removed the job ${id}${removed === null ? '' : `: ${outcomeText(removed.state)}`}.`);
    }
  });
};

/** `1,000 accepted, 3 failed` */
function outcomeText({ counts }: JobView['state']): string {
  const known = outcomes.filter((name) => counts[name] > 0);
  return known.map((name) => `${grouped(counts[name])} ${name.replace('_', ' ')}`).join(', ');
}
