import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { projectExample, projectView } from './data.js';

export const serviceProjectsList: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command.description('List the projects, the first one first. Each has its own keys, balance and settings.');
  addStoreOptions(command);
  addHelp(command, {
    view: projectView,
    effects: ['reads'],
    examples: [
      ['urtuu service projects list', 'the projects of urtuu serve'],
      ['urtuu service projects list -o csv --columns name,balance', 'their balances'],
    ],
    exits: [12],
    json: `[${projectExample}]`,
  });
  command.action(async (options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await io.printAll(projectView, await store.administration.listProjects());
    noteStore(io, store);
  });
};
