import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { jobExample } from '../../output/examples.js';
import { counted } from '../../text/wording.js';
import { CreditSums } from './credit-sums.js';
import { jobRows } from './job-rows.js';
import { jobView } from './views.js';

export const jobsList: CommandBody<'io' | 'config' | 'clock'> = (command, context) => {
  addHelp(command.description('List the bulk jobs of this machine, newest first.'), {
    view: jobView,
    effects: ['reads'],
    examples: [
      ['urtuu jobs list', 'all jobs and their progress'],
      ['urtuu jobs list -o csv --columns job,pending,in_doubt', 'for a script'],
    ],
    notes: ['In JSON, state is new, held, running, unfinished (shown as stopped) or finished.'],
    exits: [],
    json: `[${jobExample}]`,
  });
  command.action(async () => {
    const damaged = ({ message }: Error) => context.io.warn(message);
    const sums = new CreditSums();
    await context.io.printAll(jobView, sums.of(jobRows(context, damaged)));
    if (sums.isWhole && sums.count > 1) context.io.note(`${counted(sums.count, 'job')}: ${sums.text}.`);
  });
};
