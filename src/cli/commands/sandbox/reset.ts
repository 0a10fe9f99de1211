import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { noteStore, type StoreOptions } from '../service/store.js';
import { addSandboxOptions, changeableStore } from './data.js';

export const sandboxReset: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command.description(
    'Delete the messages, batches, outbox and idempotency keys of the embedded service, and restore its balance. Keeps its API keys and settings.',
  );
  addSandboxOptions(command);
  addHelp(command, {
    effects: ['changes'],
    examples: [
      ['urtuu sandbox reset', 'start again, after a prompt'],
      ['urtuu sandbox reset --yes', 'in a test script'],
    ],
    refused: 'the data was served with real carriers',
    exits: [11, 12],
  });
  command.action(async (options: StoreOptions) => {
    const { io } = context;
    const store = await changeableStore(context, options);
    noteStore(io, store);
    await confirmed(context, 'Delete all messages of this service?');
    await store.administration.reset();
    io.note('The service is empty and has its initial balance.');
  });
};
