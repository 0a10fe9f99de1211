import type { Command } from 'commander';
import type { ApiKey } from '../../../service/index.js';
import { type Column, field, type View } from '../../output/view.js';
import { addProjectOption } from '../service/project.js';
import { addStoreOptions } from '../service/store.js';

const scope: Column<ApiKey> = { name: 'scope', value: (key) => key.scope.join(',') };
const time = (name: keyof ApiKey & string) => field<ApiKey>(name, { kind: 'time' });

/** A revoked key has no other end. */
const end: Column<ApiKey> = {
  name: 'ends_at',
  kind: 'time',
  value: ({ expires_at: expires, revoked_at: revoked }) => revoked ?? expires,
};

/** `command`: the words before `create`, `urtuu keys` or `urtuu service keys`. */
export const keyView = (command: string): View<ApiKey> => ({
  columns: [
    field<ApiKey>('id'),
    field<ApiKey>('prefix'),
    field<ApiKey>('label'),
    field<ApiKey>('created_by'),
    scope,
    time('created_at'),
    time('expires_at'),
    time('last_used_at'),
    time('revoked_at'),
  ],
  record: (key) => key,
  empty: `No keys. Create one with: \`${command} create\``,
});

/**
 * A table shows scopes and ends only if a key is restricted, and ids only if a key of an older release has no prefix.
 */
export function viewOfKeys(view: View<ApiKey>, keys: readonly ApiKey[]): View<ApiKey> {
  if (keys.some(({ prefix }) => prefix === null)) return view;
  const table = [
    field<ApiKey>('prefix'),
    field<ApiKey>('label'),
    ...(keys.some((key) => key.created_by !== null) ? [field<ApiKey>('created_by')] : []),
    ...(keys.some((key) => key.scope.join(',') !== 'send,read') ? [scope] : []),
    time('created_at'),
    time('last_used_at'),
    ...(keys.some((key) => end.value(key) !== null) ? [end] : []),
  ];
  return { ...view, table };
}

export function addKeyOptions(command: Command): void {
  addProjectOption(command);
  addStoreOptions(command);
}
