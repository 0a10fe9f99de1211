import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { laneExample, laneView, setLaneStatus } from './data.js';

export const serviceLanesResume: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Resume a paused lane. Its waiting messages are submitted, oldest first.')
    .argument('<lane>', 'the lane, as in urtuu service lanes list');
  addStoreOptions(command);
  addHelp(command, {
    view: laneView,
    effects: ['sends'],
    examples: [
      ['urtuu service lanes resume Mobicom', 'submit again'],
      ['urtuu service lanes resume email --database postgres://urtuu@db/urtuu', 'on a database'],
    ],
    exits: [12],
    json: laneExample,
  });
  command.action(async (lane: string, options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await io.print(laneView, await setLaneStatus(store.administration, lane, 'open'));
    noteStore(io, store);
  });
};
