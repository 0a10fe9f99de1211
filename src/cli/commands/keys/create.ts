import type { ApiKey } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, noteStore } from '../sandbox/data.js';
import { addKeyDataOption, keyStore } from './data.js';

const view: View<ApiKey & { secret: string }> = {
  columns: [field('id'), field('secret'), field('label'), field('created_at', { kind: 'time' })],
  record: ({ id, secret, label, created_at }) => ({ id, secret, label, created_at }),
};

interface Options extends DataOptions {
  label?: string;
}

export const keysCreate: CommandBody<'io' | 'network' | 'config'> = (command, { io, network, config }) => {
  command
    .description('Create an API key for the service on this machine. Shows it only once.')
    .option('--label <text>', 'name for people, such as the program that uses the key');
  addKeyDataOption(command);
  addHelp(command, {
    view,
    examples: [
      ['urtuu keys create --label deploy', 'create a key for urtuu serve'],
      ['urtuu keys create --json | jq -r .secret > key.txt', 'save it in a file'],
    ],
    exits: [8],
    json: '{"id": "3f0a...7d", "secret": "urtuu_...", "label": "deploy", "created_at": "2026-11-21T08:00:00.000Z"}',
  });
  command.action(async ({ label, ...options }: Options) => {
    const store = await keyStore(network, config, options);
    await io.print(view, await store.administration.createKey(label === undefined ? {} : { label }));
    noteStore(io, store);
    io.note('Save the key now: it is not shown again.');
  });
};
