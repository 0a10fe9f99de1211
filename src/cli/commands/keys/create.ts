import type { ApiKey } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, noteStore } from '../sandbox/data.js';
import { addKeyDataOption, keyStore } from './data.js';

const view: View<ApiKey & { secret: string }> = {
  columns: [field('id'), field('secret'), field('created_at', { kind: 'time' })],
  record: ({ id, secret, created_at }) => ({ id, secret, created_at }),
};

export const keysCreate: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command.description('Create an API key for the service on this machine. Shows it only once.');
  addKeyDataOption(command);
  addHelp(command, {
    view,
    examples: [
      ['urtuu keys create', 'create a key for urtuu serve'],
      ['urtuu keys create --json | jq -r .secret > key.txt', 'save it in a file'],
    ],
    exits: [8],
    json: '{"id": "3f0a...7d", "secret": "urtuu_...", "created_at": "2026-11-21T08:00:00.000Z"}',
  });
  command.action(async (options: DataOptions) => {
    const store = await keyStore(network, config, options);
    await io.print(view, await store.administration.createKey());
    noteStore(io, store);
    io.note('Save the key now: it is not shown again.');
  });
};
