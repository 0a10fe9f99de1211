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
  command.option('--data <folder>', "another service's data (default: the sandbox's)");
}

/** The folder of `urtuu serve`. */
export const serviceDirectory = (config: Config): string => join(config.stateDirectory, 'service');

/** What the owner of a service's data may do: that of the sandbox, or of the folder that was named. */
export async function administration(
  network: Network,
  config: Config,
  { data }: DataOptions,
): Promise<Administration> {
  const folder = data === undefined ? undefined : namedFolder(config, data);
  return (await network.service(folder)).administration;
}

/** A folder that was named to be looked into: a service that is not there is not made. */
export function namedFolder(config: Config, data: string): string {
  const folder = resolve(config.cwd, data);
  // Where only a part is left, opening it says what is missing.
  const parts = ['service.db', 'installation.json', 'secret', 'operator.db'];
  if (parts.some((part) => existsSync(join(folder, part)))) return folder;
  throw new CliError('not_found', exits.missing, `no service data in ${folder}`, {
    hint: `Check the name, or start a service there: urtuu serve --data ${data}`,
  });
}
