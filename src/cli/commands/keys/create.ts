import type { ApiKey } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import type { Context } from '../../context.js';
import { field, type View } from '../../output/view.js';
import { ownedProject, type ProjectOptions } from '../service/project.js';
import { noteStore, ownedStore, type StoreOptions } from '../service/store.js';
import { addKeyOptions } from './data.js';

const view: View<ApiKey & { secret: string }> = {
  columns: [field('id'), field('secret'), field('label'), field('created_at', { kind: 'time' })],
  record: ({ id, secret, label, created_at }) => ({ id, secret, label, created_at }),
};

interface Options extends ProjectOptions {
  label?: string;
}

/** A key may be made before the first start. */
const makeStore = (context: Pick<Context, 'network' | 'config'>, options: StoreOptions) =>
  ownedStore(context, options, true);

export const keyCreation =
  (name: string): CommandBody<'io' | 'network' | 'config'> =>
  (command, context) => {
    command
      .description('Create an API key for the service on this machine. Shows it only once.')
      .option('--label <text>', 'name for people, such as the program that uses the key');
    addKeyOptions(command);
    addHelp(command, {
      view,
      examples: [
        [`${name} create --label deploy`, 'create a key for urtuu serve'],
        [`${name} create --json | jq -r .secret > key.txt`, 'save it in a file'],
      ],
      exits: [8, 12],
      json: '{"id": "3f0a...7d", "secret": "urtuu_...", "label": "deploy", "created_at": "2026-11-21T08:00:00.000Z"}',
    });
    command.action(async ({ label, ...options }: Options) => {
      const { io } = context;
      const store = await ownedProject(context, options, makeStore);
      await io.print(view, await store.project.createKey(label === undefined ? {} : { label }));
      noteStore(io, store);
      io.note('Save the key now: it is not shown again.');
    });
  };

export const keysCreate = keyCreation('urtuu keys');
