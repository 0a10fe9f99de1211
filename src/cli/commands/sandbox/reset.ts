import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { confirmed } from '../../input/required.js';
import { addDataOption, administration, type DataOptions } from './data.js';

export const sandboxReset: CommandBody = (command, context) => {
  command.description('Empty the embedded service: messages, batches and outbox. Its keys stay.');
  addDataOption(command);
  describe(command, {
    examples: [
      ['urtuu sandbox reset', 'start again, after a question'],
      ['urtuu sandbox reset --yes', 'in a test script'],
    ],
    exits: [],
  });
  command.action(async (options: DataOptions) => {
    await confirmed(context, 'Delete all messages of this service?');
    await (await administration(context, options)).reset();
    context.io.note('The service is empty, its balance is the first one again.');
  });
};
