import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../command-help.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { laneExample, laneView } from './data.js';

export const serviceLanesList: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command.description(
    'List the lanes: one for each route of the configuration, and email. Connected: instances with a connection.',
  );
  addStoreOptions(command);
  addHelp(command, {
    view: laneView,
    examples: [
      ['urtuu service lanes list', 'the messages that wait, by lane'],
      ['urtuu service lanes list --json', 'in a script'],
    ],
    exits: [12],
    json: `[${laneExample}]`,
  });
  command.action(async (options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await io.printAll(laneView, await store.administration.listLanes());
    noteStore(io, store);
  });
};
