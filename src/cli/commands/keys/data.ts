import type { Command } from 'commander';
import type { ApiKey } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import { serviceDirectory } from '../../config/folders.js';
import type { Network } from '../../network/network.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, type Store, sandboxStore } from '../sandbox/data.js';

const shown = [
  field<ApiKey>('prefix'),
  field<ApiKey>('label'),
  field<ApiKey>('created_at', { kind: 'time' }),
  field<ApiKey>('revoked_at', { kind: 'time' }),
];

export const keyView: View<ApiKey> = {
  columns: [field('id'), ...shown],
  table: shown,
  record: (key) => key,
  empty: 'No keys. Create one with: urtuu keys create',
};

/** A table has ids only where a key of an older release has no prefix. */
export const viewOfKeys = ({ table = [], ...view }: View<ApiKey>, keys: readonly ApiKey[]): View<ApiKey> =>
  keys.some(({ prefix }) => prefix === null) ? view : { ...view, table };

export function addKeyDataOption(command: Command): void {
  command.option('--data <folder>', 'data folder of the service (default: that of urtuu serve)');
}

/** Of `urtuu serve` on this machine, or of the sandbox with --sandbox. */
export async function keyStore(network: Network, config: Config, options: DataOptions): Promise<Store> {
  if (options.data !== undefined || config.sandbox) return sandboxStore(network, config, options);
  const folder = serviceDirectory(config.stateDirectory);
  return { folder, administration: (await network.service(folder)).administration };
}
