import type { Administration, ProjectSummary } from '../../../../service/index.js';
import { inputError } from '../../../errors.js';
import { field, type View } from '../../../output/view.js';

export const projectView: View<ProjectSummary> = {
  columns: [
    field('id'),
    field('name'),
    field('balance', { kind: 'number' }),
    field('created_at', { kind: 'time' }),
  ],
  record: (project) => project,
};

export const projectExample =
  '{"id": "00000000-0000-7000-8000-000000000001", "name": "Shop", "balance": 100000, "created_at": "2026-11-21T08:00:00.000Z"}';

/** Projects are named on command lines, so names must be unique. Throws CliError (exit 8). */
export async function refuseTakenName(administration: Administration, name: string): Promise<void> {
  const taken = (await administration.listProjects()).some((project) => project.name === name);
  if (taken) throw inputError(`a project named ${name} already exists`, 'Choose another name.');
}
