import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { type DataOptions, noteStore } from '../sandbox/data.js';
import { addKeyDataOption, keyStore, keyView, viewOfKeys } from './data.js';

export const keysList: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  addKeyDataOption(command);
  addHelp(command, {
    view: keyView,
    examples: [
      ['urtuu keys list', 'the keys of urtuu serve by their first 12 characters'],
      ['urtuu keys list --data /srv/urtuu --json', 'keys of another data folder'],
    ],
    exits: [],
    json: '[{"id": "3f0a...7d", "prefix": "urtuu_4bTq9x", "label": "deploy", "created_at": "2026-11-21T08:00:00.000Z", "revoked_at": null}]',
  });
  command.action(async (options: DataOptions) => {
    const store = await keyStore(network, config, options);
    const keys = await store.administration.listKeys();
    await io.printAll(viewOfKeys(keyView, keys), keys);
    noteStore(io, store);
  });
};
