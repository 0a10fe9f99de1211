import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { confirmed } from '../../input/required.js';
import { addDataOption, type DataOptions, sandboxStore } from './data.js';

export const sandboxReset: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command.description('Delete the messages, batches and outbox of the embedded service. Keeps its keys.');
  addDataOption(command);
  addHelp(command, {
    examples: [
      ['urtuu sandbox reset', 'start again, after a prompt'],
      ['urtuu sandbox reset --yes', 'in a test script'],
    ],
    exits: [],
  });
  command.action(async (options: DataOptions) => {
    const { network, config, io } = context;
    const { folder, administration } = await sandboxStore(network, config, options);
    await confirmed(context, `Delete all messages in ${folder}?`);
    await administration.reset();
    io.note('The service is empty and has its initial balance.');
  });
};
