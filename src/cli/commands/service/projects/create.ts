import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { projectExample, projectView, refuseTakenName } from './data.js';

export const serviceProjectsCreate: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Create a project, with the opening balance and without a key.')
    .argument('<name>', 'name of the project');
  addStoreOptions(command);
  addHelp(command, {
    view: projectView,
    effects: ['changes'],
    examples: [
      ['urtuu service projects create Shop', 'create a project'],
      ['urtuu service keys create --project Shop', 'its first key'],
    ],
    exits: [8, 12],
    json: projectExample,
  });
  command.action(async (name: string, options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await refuseTakenName(store.administration, name);
    await io.print(projectView, await store.administration.createProject(name));
    noteStore(io, store);
  });
};
