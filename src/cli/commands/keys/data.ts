import type { Command } from 'commander';
import type { Administration, ApiKey } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { field, type View } from '../../output/view.js';
import { type DataOptions, namedFolder, serviceDirectory } from '../sandbox/data.js';

export const keyView: View<ApiKey> = {
  columns: [field('id'), field('created_at', { kind: 'time' }), field('revoked_at', { kind: 'time' })],
  record: (key) => key,
  empty: 'There are no keys. Make one with: urtuu keys create',
};

export function addKeyDataOption(command: Command): void {
  command.option('--data <folder>', 'the data of the service (default: that of urtuu serve)');
}

/** The keys are those of `urtuu serve` on this machine, or of the sandbox with --sandbox. */
export async function keyAdministration(context: Context, { data }: DataOptions): Promise<Administration> {
  const own = context.config.sandbox ? undefined : serviceDirectory(context);
  const folder = data === undefined ? own : namedFolder(context, data);
  return (await context.network.service(folder)).administration;
}
