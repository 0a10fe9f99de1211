import type { Command } from 'commander';
import { sandboxDirectory, serviceDirectory } from '../../config/folders.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addStoreOptions, hasData, namedStore, type Store, type StoreOptions } from '../service/store.js';

export const addSandboxOptions = (command: Command): void => addStoreOptions(command, 'the sandbox');

type Needs = Pick<Context, 'network' | 'config'>;

/** The data of the named folder or database, or of the sandbox; never of the environment's database. */
export async function sandboxStore(context: Needs, options: StoreOptions): Promise<Store> {
  const { network, config } = context;
  if (options.data !== undefined || options.database !== undefined)
    return namedStore(context, { ...config.env, URTUU_DATABASE: '' }, options);
  const { administration } = await network.service();
  return { name: sandboxDirectory(config.stateDirectory), administration };
}

/** Names the other store if this one is empty. */
export function noteNoMessages({ io, config }: Pick<Context, 'io' | 'config'>, { name }: Store): void {
  const other = serviceDirectory(config.stateDirectory);
  const text = `No messages in ${name}.`;
  if (name !== other && hasData(other)) {
    const command = config.commandLine(['sandbox', 'outbox'], { '--data': other });
    io.note(`${text} Messages of urtuu serve:`, command);
  } else {
    io.note(text);
  }
}

/** The same, for changes. Throws CliError for data that was served with a real carrier. */
export async function changeableStore(
  context: Needs,
  options: StoreOptions,
  advice: { hint?: string } = {},
): Promise<Store> {
  const store = await sandboxStore(context, options);
  if (!store.administration.isReal) return store;
  const message = 'this data was served with real carriers; it is not a sandbox';
  throw new CliError('refused', exits.refused, message, advice);
}
