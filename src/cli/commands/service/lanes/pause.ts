import type { CommandBody } from '../../../command.js';
import { addHelp } from '../../../help/command-help.js';
import { addStoreOptions, noteStore, ownedStore, type StoreOptions } from '../store.js';
import { laneView, pausedLaneExample, setLaneStatus } from './data.js';

export const serviceLanesPause: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description(
      'Pause a lane on every instance. Batches and email wait in it for up to a day; a single SMS is refused (503).',
    )
    .argument('<lane>', 'the lane, as in urtuu service lanes list');
  addStoreOptions(command);
  addHelp(command, {
    view: laneView,
    effects: ['changes'],
    examples: [
      ['urtuu service lanes pause Mobicom', 'submit nothing more to an operator'],
      ['urtuu service lanes resume Mobicom', 'resume it'],
    ],
    exits: [12],
    json: pausedLaneExample,
  });
  command.action(async (lane: string, options: StoreOptions) => {
    const { io } = context;
    const store = await ownedStore(context, options);
    await io.print(laneView, await setLaneStatus(store.administration, lane, 'paused'));
    noteStore(io, store);
  });
};
