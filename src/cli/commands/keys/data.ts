import type { Command } from 'commander';
import type { ApiKey } from '../../../service/index.js';
import { field, type View } from '../../output/view.js';
import { addProjectOption } from '../service/project.js';
import { addStoreOptions } from '../service/store.js';

const shown = [
  field<ApiKey>('prefix'),
  field<ApiKey>('label'),
  field<ApiKey>('created_at', { kind: 'time' }),
  field<ApiKey>('revoked_at', { kind: 'time' }),
];

/** `command`: the words before `create`, `urtuu keys` or `urtuu service keys`. */
export const keyView = (command: string): View<ApiKey> => ({
  columns: [field('id'), ...shown],
  table: shown,
  record: (key) => key,
  empty: `No keys. Create one with: ${command} create`,
});

/** A table has ids only where a key of an older release has no prefix. */
export const viewOfKeys = ({ table = [], ...view }: View<ApiKey>, keys: readonly ApiKey[]): View<ApiKey> =>
  keys.some(({ prefix }) => prefix === null) ? view : { ...view, table };

export function addKeyOptions(command: Command): void {
  addProjectOption(command);
  addStoreOptions(command);
}
