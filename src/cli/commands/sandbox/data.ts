import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Administration } from '../../../service/index.js';
import type { Config } from '../../config/config.js';
import { sandboxDirectory, serviceDirectory } from '../../config/folders.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import type { Network } from '../../network/network.js';

export interface DataOptions {
  data?: string;
}

export function addDataOption(command: Command): void {
  command.option('--data <folder>', 'folder of another service (default: the sandbox)');
}

export interface Store {
  folder: string;
  administration: Administration;
}

/** The data of the named folder, or of the sandbox. */
export async function sandboxStore(network: Network, config: Config, { data }: DataOptions): Promise<Store> {
  const named = data === undefined ? undefined : namedFolder(config, data);
  const { administration } = await network.service(named);
  return { folder: named ?? sandboxDirectory(config.stateDirectory), administration };
}

/** `urtuu serve` and the sandbox have data of their own: a person sees which of them it was. */
export function noteStore(io: Context['io'], { folder }: Store): void {
  if (io.printer.isTerminal && !io.printer.isMachine) io.note(`Data: ${folder}`);
}

/** Names the other store where this one is empty. */
export function noteNoMessages(io: Context['io'], config: Config, { folder }: Store): void {
  const other = serviceDirectory(config.stateDirectory);
  const text = `No messages in ${folder}.`;
  if (folder !== other && hasData(other)) {
    const command = config.commandLine(['sandbox', 'outbox', '--data', other]);
    io.note(`${text} Messages of urtuu serve:`, command);
  } else {
    io.note(text);
  }
}

/** The same, to be changed. Throws CliError for data that was served with a real carrier. */
export async function changeableStore(
  network: Network,
  config: Config,
  options: DataOptions,
): Promise<Store> {
  const store = await sandboxStore(network, config, options);
  if (!store.administration.isReal) return store;
  throw new CliError('refused', exits.refused, 'this service has sent over real carriers: it is no sandbox');
}

/** Throws CliError for a folder without a service: looking into one must not create it. */
export function namedFolder(config: Config, data: string): string {
  const folder = resolve(config.cwd, data);
  if (hasData(folder)) return folder;
  throw new CliError('not_found', exits.missing, `no service data in ${folder}`, {
    hint: `Check the name, or start a service there: urtuu serve --data ${data}`,
  });
}

/** With only some of the files, opening the service says which are missing. */
const hasData = (folder: string) =>
  ['service.db', 'installation.json', 'secret', 'operator.db'].some((part) => existsSync(join(folder, part)));
