import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Administration } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import type { Network } from '../../network/network.js';

export interface DataOptions {
  data?: string;
}

export function addDataOption(command: Command): void {
  command.option('--data <folder>', 'folder of another service (default: the sandbox)');
}

/** The data folder of `urtuu serve`. */
export const serviceDirectory = (config: Config): string => join(config.stateDirectory, 'service');

/** Of the service in the named folder, or of the sandbox. */
export async function administration(
  network: Network,
  config: Config,
  { data }: DataOptions,
): Promise<Administration> {
  const folder = data === undefined ? undefined : namedFolder(config, data);
  return (await network.service(folder)).administration;
}

/** The same, of data that was never served with a real carrier; throws CliError for other. */
export async function sandboxAdministration(
  network: Network,
  config: Config,
  options: DataOptions,
): Promise<Administration> {
  const service = await administration(network, config, options);
  if (!service.isReal) return service;
  throw new CliError('refused', exits.refused, 'this service has sent over real carriers: it is no sandbox');
}

/** Throws CliError for a folder without a service: looking into one must not create it. */
export function namedFolder(config: Config, data: string): string {
  const folder = resolve(config.cwd, data);
  // With only some of the files, opening the service says which are missing.
  const parts = ['service.db', 'installation.json', 'secret', 'operator.db'];
  if (parts.some((part) => existsSync(join(folder, part)))) return folder;
  throw new CliError('not_found', exits.missing, `no service data in ${folder}`, {
    hint: `Check the name, or start a service there: urtuu serve --data ${data}`,
  });
}
