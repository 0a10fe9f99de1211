import type { Command } from 'commander';
import type { Administration, ApiKey } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import type { Network } from '../../network/network.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, namedFolder, serviceDirectory } from '../sandbox/data.js';

export const keyView: View<ApiKey> = {
  columns: [field('id'), field('created_at', { kind: 'time' }), field('revoked_at', { kind: 'time' })],
  record: (key) => key,
  empty: 'No keys. Create one with: urtuu keys create',
};

export function addKeyDataOption(command: Command): void {
  command.option('--data <folder>', 'data folder of the service (default: that of urtuu serve)');
}

/** Of `urtuu serve` on this machine, or of the sandbox with --sandbox. */
export async function keyAdministration(
  network: Network,
  config: Config,
  { data }: DataOptions,
): Promise<Administration> {
  const own = config.sandbox ? undefined : serviceDirectory(config);
  const folder = data === undefined ? own : namedFolder(config, data);
  return (await network.service(folder)).administration;
}
