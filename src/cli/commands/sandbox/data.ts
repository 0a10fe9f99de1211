import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Administration } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';

export interface DataOptions {
  data?: string;
}

export function addDataOption(command: Command): void {
  command.option('--data <folder>', "another service's data (default: the sandbox's)");
}

/** The folder of `urtuu serve`. */
export const serviceDirectory = (context: Context): string => join(context.config.stateDirectory, 'service');

/** What the owner of a service's data may do: that of the sandbox, or of the folder that was named. */
export async function administration(context: Context, { data }: DataOptions): Promise<Administration> {
  const folder = data === undefined ? undefined : namedFolder(context, data);
  return (await context.network.service(folder)).administration;
}

/** A folder that was named to be looked into: a service that is not there is not made. */
export function namedFolder(context: Context, data: string): string {
  const folder = resolve(context.config.cwd, data);
  // Where only a part is left, opening it says what is missing.
  const parts = ['service.db', 'installation.json', 'secret', 'operator.db'];
  if (parts.some((part) => existsSync(join(folder, part)))) return folder;
  throw new CliError('not_found', exits.missing, `no service data in ${folder}`, {
    hint: `Check the name, or start a service there: urtuu serve --data ${data}`,
  });
}
