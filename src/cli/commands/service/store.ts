import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Administration, Hold } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import { withoutPassword } from '../../config/database-url.js';
import { sandboxDirectory, serviceDirectory } from '../../config/folders.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { readName } from '../../options.js';
import { type DatabaseAccess, databaseAccess, databaseError } from '../serve/database.js';

export interface StoreOptions {
  data?: string;
  database?: string;
}

/** The data of a service, for its owner's commands, which work beside a running service. */
export interface Store {
  /** Its folder, or the URL of its database without a password. */
  name: string;
  administration: Administration;
}

/** Adds `--data` and `--database`; `fallback` names the default data. */
export function addStoreOptions(command: Command, fallback = 'that of urtuu serve'): void {
  command
    .option('--data <folder>', `data folder of the service (default: ${fallback})`, readName)
    .option('--database <url>', 'PostgreSQL database of the service');
}

type Needs = Pick<Context, 'network' | 'config'>;

/**
 * The data of `--data`, `--database` or URTUU_DATABASE, or of the sandbox with --sandbox, else of urtuu serve. Throws
 * CliError (exit 12) if there is none; with `makes`, creates the data of urtuu serve instead.
 */
export async function ownedStore(context: Needs, options: StoreOptions, makes = false): Promise<Store> {
  const { network, config } = context;
  if (!config.sandbox || options.data !== undefined || options.database !== undefined)
    return namedStore(context, config.env, options, makes);
  const { administration } = await network.service();
  return { name: sandboxDirectory(config.stateDirectory), administration };
}

/** The same without the sandbox, using the variables in `env`. */
export async function namedStore(
  { network, config }: Needs,
  env: Config['env'],
  options: StoreOptions,
  makes = false,
): Promise<Store> {
  const database = databaseAccess({ env, cwd: config.cwd }, options);
  if (database !== null) {
    const administration = await network.administration(database).catch((error) => {
      throw databaseError(database.url, error);
    });
    return { name: withoutPassword(database.url), administration };
  }
  const { data } = options;
  const folder = data === undefined ? serviceDirectory(config.stateDirectory) : resolve(config.cwd, data);
  const isThere = hasData(folder);
  if (!isThere && (data !== undefined || !makes)) throw noData(folder);
  const administration = isThere
    ? await network.administration({ directory: folder })
    : (await network.service(folder)).administration;
  return { name: folder, administration };
}

/** The folder or database for a command that does not open the service. */
export function ownedPlace(
  config: Config,
  options: StoreOptions,
): { folder: string } | { database: DatabaseAccess } {
  const { data } = options;
  if (config.sandbox && data === undefined && options.database === undefined)
    return { folder: sandboxDirectory(config.stateDirectory) };
  const database = databaseAccess(config, options);
  if (database !== null) return { database };
  return { folder: data === undefined ? serviceDirectory(config.stateDirectory) : resolve(config.cwd, data) };
}

/** `urtuu serve` and the sandbox have separate data, so people see which one was used. */
export function noteStore(io: Context['io'], { name }: Store): void {
  if (io.printer.isTerminal && !io.printer.isMachine) io.note(`Data: ${name}`);
}

/** If only some of the files exist, opening the service reports the missing ones. */
export const hasData = (folder: string): boolean =>
  ['service.db', 'installation.json', 'secret', 'operator.db'].some((part) => existsSync(join(folder, part)));

export const noData = (folder: string, hint = 'Check the name, or start a service there: `urtuu serve`') =>
  new CliError('not_found', exits.missing, `no service data in ${folder}`, { hint });

const causes: Readonly<Record<Hold['reason'], string>> = {
  restored: 'its data was restored',
  failed_over: 'its database has failed over or was recovered',
};

export const holdWarning = (reason: Hold['reason']): string =>
  `The service is held, since ${causes[reason]}: nothing is sent. See: \`urtuu service release --help\``;
