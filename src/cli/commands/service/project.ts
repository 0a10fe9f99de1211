import type { Command } from 'commander';
import type { ProjectAdministration } from '../../../service/index.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { ownedStore, type Store, type StoreOptions } from './store.js';

export interface ProjectOptions extends StoreOptions {
  project?: string;
}

export interface OwnedProject extends Store {
  project: ProjectAdministration;
}

export function addProjectOption(command: Command): void {
  command.option('--project <project>', 'id or name of the project (default: the first)');
}

/** The project that `--project` names, in the data that `open` gives. Throws CliError (exit 12) where there is none. */
export async function ownedProject(
  context: Pick<Context, 'network' | 'config'>,
  options: ProjectOptions,
  open: (context: Pick<Context, 'network' | 'config'>, options: StoreOptions) => Promise<Store> = ownedStore,
): Promise<OwnedProject> {
  const store = await open(context, options);
  const { administration } = store;
  const { project: given } = options;
  if (given === undefined) return { ...store, project: administration };
  const found = (await administration.listProjects()).filter(
    ({ id, name }) => id === given || name === given,
  );
  if (found.length > 1)
    throw usageError(
      `${found.length} projects are called ${given}`,
      'Give an id. See: urtuu service projects list',
    );
  const project = found[0] === undefined ? null : await administration.project(found[0].id);
  if (project !== null) return { ...store, project };
  throw new CliError('not_found', exits.missing, `no project ${given}`, {
    hint: 'Give its id or its name. See: urtuu service projects list',
  });
}
