import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { namedProject } from '../project.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { projectExample, projectView, refuseTakenName } from './data.js';

export const serviceProjectsRename: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Rename a project. Its id does not change.')
    .argument('<project>', 'id or name of the project')
    .argument('<name>', 'its new name');
  addStoreOptions(command);
  addHelp(command, {
    view: projectView,
    effects: ['changes'],
    examples: [
      ['urtuu service projects rename Default Shop', 'name the first project'],
      ['urtuu service projects rename "$id" Shop --json', 'in a script'],
    ],
    exits: [8, 12],
    json: projectExample,
  });
  command.action(async (given: string, name: string, options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    const { administration } = store;
    const project = await namedProject(administration, given);
    if (project.name !== name) await refuseTakenName(administration, name);
    await administration.renameProject(project.id, name);
    await io.print(projectView, { ...project, name });
    noteStore(io, store);
  });
};
