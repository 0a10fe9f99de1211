import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { jobExample } from '../../output/examples.js';
import { jobRows, jobView } from './views.js';

export const jobsList: CommandBody = (command, context) => {
  describe(command.description('List the bulk jobs of this machine.'), {
    view: jobView,
    examples: [
      ['urtuu jobs list', 'what was sent, and what is unfinished'],
      ['urtuu jobs list -o csv --columns job,pending,in_doubt', 'for a script'],
    ],
    exits: [],
    json: `[${jobExample}]`,
  });
  command.action(async () => {
    const damaged = ({ message }: Error) => context.io.warn(message);
    await context.io.printAll(jobView, jobRows(context, damaged));
  });
};
