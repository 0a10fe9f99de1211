import type { Command } from 'commander';
import { idAsWritten } from '../../../contract/index.js';
import type { Administration, ProjectAdministration, ProjectSummary } from '../../../service/index.js';
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

/** The project of `--project`, in the data that `open` returns. Throws CliError (exit 12) if there is none. */
export async function ownedProject(
  context: Pick<Context, 'network' | 'config'>,
  options: ProjectOptions,
  open: (context: Pick<Context, 'network' | 'config'>, options: StoreOptions) => Promise<Store> = ownedStore,
): Promise<OwnedProject> {
  const store = await open(context, options);
  const { administration } = store;
  const { project: given } = options;
  if (given === undefined) return { ...store, project: administration };
  const { id } = await namedProject(administration, given);
  const project = await administration.project(id);
  if (project === null) throw noProject(given);
  return { ...store, project };
}

/** The project with an id or a name. Throws CliError: exit 12 if there is none, 2 if several have the name. */
export async function namedProject(administration: Administration, given: string): Promise<ProjectSummary> {
  const projects = await administration.listProjects();
  const byId = projects.filter(({ id }) => id === idAsWritten(given));
  const [project, ...others] = byId.length > 0 ? byId : projects.filter(({ name }) => name === given);
  if (project === undefined) throw noProject(given);
  if (others.length === 0) return project;
  const count = others.length + 1;
  throw usageError(`${count} projects are named ${given}`, 'Use an id. See: `urtuu service projects list`');
}

const noProject = (given: string) =>
  new CliError('not_found', exits.missing, `no project ${given}`, {
    hint: 'Use its id or its name. See: `urtuu service projects list`',
  });
