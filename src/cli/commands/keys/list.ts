import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { type DataOptions, noteStore } from '../sandbox/data.js';
import { addKeyDataOption, keyStore, keyView } from './data.js';

export const keysList: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  addKeyDataOption(command);
  addHelp(command, {
    view: keyView,
    examples: [
      ['urtuu keys list', 'ids of the keys of urtuu serve, without the keys'],
      ['urtuu keys list --data /srv/urtuu --json', 'keys of another data folder'],
    ],
    exits: [],
    json: '[{"id": "3f0a...7d", "created_at": "2026-11-21T08:00:00.000Z", "revoked_at": null}]',
  });
  command.action(async (options: DataOptions) => {
    const store = await keyStore(network, config, options);
    await io.printAll(keyView, await store.administration.listKeys());
    noteStore(io, store);
  });
};
