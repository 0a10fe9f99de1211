import { InvalidArgumentError } from 'commander';
import type { ApiKey, KeyScope } from '../../../service/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { addHelp } from '../../help/command-help.js';
import { readTime, type WrittenTime } from '../../input/time.js';
import { field, type View } from '../../output/view.js';
import { ensureShown, keyCreatedAs } from '../../single/shown.js';
import { ownedProject, type ProjectOptions } from '../service/project.js';
import { noteStore, ownedStore, type StoreOptions } from '../service/store.js';
import { addKeyOptions } from './data.js';

const view: View<ApiKey & { secret: string }> = {
  columns: [
    field('id'),
    field('secret'),
    field('label'),
    { name: 'scope', value: ({ scope }) => scope.join(',') },
    field('created_at', { kind: 'time' }),
    field('expires_at', { kind: 'time' }),
  ],
  record: ({ id, secret, label, scope, created_at, expires_at }) => ({
    id,
    secret,
    label,
    scope,
    created_at,
    expires_at,
  }),
};

interface Options extends ProjectOptions {
  label?: string;
  scope?: KeyScope[];
  expires?: WrittenTime;
}

/** A key can be created before the first start. */
const makeStore = (context: Pick<Context, 'network' | 'config'>, options: StoreOptions) =>
  ownedStore(context, options, true);

export const keyCreation =
  (name: string): CommandBody<'io' | 'network' | 'config'> =>
  (command, context) => {
    command
      .description('Create an API key for the service on this machine. Shows it only once.')
      .option('--label <text>', 'name for people, such as the program that uses the key')
      .option('--scope <scope>', 'send, read, inbox, or some: send,read (the default)', readScope)
      .option('--expires <time>', '90d from now, a date, or an ISO time (default: never)', readExpiry);
    addKeyOptions(command);
    addHelp(command, {
      view,
      effects: ['changes'],
      examples: [
        [`${name} create --label shop --scope send --expires 90d`, 'a key that can only send'],
        [
          `${name} create --label tests --scope inbox`,
          'a key that can only read what was delivered in tests',
        ],
        [`${name} create --json | jq -r .secret > key.txt`, 'save it in a file'],
      ],
      exits: [8, 12],
      json: '{"id": "3f0a...7d", "secret": "urtuu_...", "label": "deploy", "scope": ["send", "read"], "created_at": "2026-11-21T08:00:00.000Z", "expires_at": null}',
    });
    command.action(async ({ label, scope, expires, ...options }: Options) => {
      const { io } = context;
      const given = {
        ...(label === undefined ? {} : { label }),
        ...(scope === undefined ? {} : { scope }),
        ...(expires === undefined ? {} : expiryOf(expires)),
      };
      const store = await ownedProject(context, options, makeStore);
      const key = await store.project.createKey(given);
      await io.print(view, key);
      ensureShown(io.printer, keyCreatedAs(key.id, `${name} revoke ${key.id}`));
      noteStore(io, store);
      io.note('Save the key now: it is not shown again.');
    });
  };

const scopes: readonly KeyScope[] = ['send', 'read', 'inbox'];

function readScope(written: string): KeyScope[] {
  const words = written.split(',');
  const scope = scopes.filter((each) => words.includes(each));
  if (scope.length === words.length) return scope;
  throw new InvalidArgumentError(
    `'${written}' is not a scope: write send, read, inbox, or some of them with commas`,
  );
}

function readExpiry(written: string): WrittenTime {
  try {
    return readTime(written);
  } catch {
    throw new InvalidArgumentError(
      `'${written}' is not a time: write 90d for that long from now, 2027-01-31, or 2027-01-31T08:00`,
    );
  }
}

/** A duration counts from now, by the service's clock. */
const expiryOf = (time: WrittenTime) =>
  'at' in time ? { expires_at: time.at } : { expires_in: time.ago / 1_000 };

export const keysCreate = keyCreation('urtuu keys');
