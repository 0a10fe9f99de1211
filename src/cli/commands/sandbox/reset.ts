import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { confirmed } from '../../input/required.js';
import { addDataOption, type DataOptions, sandboxAdministration } from './data.js';

export const sandboxReset: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command.description('Delete the messages, batches and outbox of the embedded service. Keeps its keys.');
  addDataOption(command);
  addHelp(command, {
    examples: [
      ['urtuu sandbox reset', 'start again, after a prompt'],
      ['urtuu sandbox reset --yes', 'in a test script'],
    ],
    exits: [11],
  });
  command.action(async (options: DataOptions) => {
    await confirmed(context, 'Delete all messages of this service?');
    await (await sandboxAdministration(context.network, context.config, options)).reset();
    context.io.note('The service is empty and has its initial balance.');
  });
};
