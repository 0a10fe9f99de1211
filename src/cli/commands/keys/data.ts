import type { Command } from 'commander';
import type { ApiKey } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import { serviceDirectory } from '../../config/folders.js';
import type { Network } from '../../network/network.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, type Store, sandboxStore } from '../sandbox/data.js';

export const keyView: View<ApiKey> = {
  columns: [field('id'), field('created_at', { kind: 'time' }), field('revoked_at', { kind: 'time' })],
  record: (key) => key,
  empty: 'No keys. Create one with: urtuu keys create',
};

export function addKeyDataOption(command: Command): void {
  command.option('--data <folder>', 'data folder of the service (default: that of urtuu serve)');
}

/** Of `urtuu serve` on this machine, or of the sandbox with --sandbox. */
export async function keyStore(network: Network, config: Config, options: DataOptions): Promise<Store> {
  if (options.data !== undefined || config.sandbox) return sandboxStore(network, config, options);
  const folder = serviceDirectory(config.stateDirectory);
  return { folder, administration: (await network.service(folder)).administration };
}
