import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Administration } from '../../../service/index.js';
import type { Context } from '../../context.js';

export interface DataOptions {
  data?: string;
}

export function addDataOption(command: Command): void {
  command.option('--data <folder>', "another service's data (default: the sandbox's)");
}

/** The folder of `urtuu serve`. */
export const serviceDirectory = (context: Context): string => join(context.stateDirectory, 'service');

/** What the owner of a service's data may do: that of the sandbox, or of the folder that was named. */
export async function administration(context: Context, { data }: DataOptions): Promise<Administration> {
  const folder = data === undefined ? undefined : resolve(context.cwd, data);
  return (await context.service(folder)).administration;
}
