import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { warnOfSlow } from '../slow-lanes.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { laneExample, laneView } from './data.js';

export const serviceLanesList: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command.description(
    'List the lanes: one for each route of the configuration, and one for email. Connected counts instances with a connection. Warns if a carrier slows down a lane, or a project on it.',
  );
  addStoreOptions(command);
  addHelp(command, {
    view: laneView,
    effects: ['reads'],
    examples: [
      ['urtuu service lanes list', 'waiting messages, by lane'],
      ['urtuu service lanes list --json', 'in a script'],
    ],
    exits: [12],
    json: `[${laneExample}]`,
  });
  command.action(async (options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    const lanes = await store.administration.listLanes();
    warnOfSlow(lanes, io);
    await io.printAll(laneView, lanes);
    noteStore(io, store);
  });
};
