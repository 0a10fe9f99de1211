import type { Service } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { confirmed } from '../../input/required.js';
import type { DatabaseOptions, OpenOptions } from '../../network/services.js';
import { databaseError } from './database.js';

/** With `acceptData` it also opens damaged data, after listing the losses and asking. */
export async function openInFolder(
  context: Pick<Context, 'options' | 'io' | 'network'>,
  folder: string,
  { acceptData, ...given }: OpenOptions,
): Promise<Service> {
  const { io, network } = context;
  try {
    return await network.service(folder, given);
  } catch (error) {
    const { forgotten } = error instanceof CliError ? error.details : {};
    if (!acceptData || typeof forgotten !== 'string') throw error;
    io.warn((error as CliError).message);
    io.warn(`Starting anyway loses ${forgotten}.`);
    await confirmed(context, 'Start with the data as it is?');
    return network.service(folder, { acceptData, ...given });
  }
}

export async function openOnDatabase(
  { network }: Pick<Context, 'network'>,
  database: DatabaseOptions,
): Promise<Service> {
  return network.serviceOn(database).catch((error) => {
    throw databaseError(database.url, error);
  });
}
