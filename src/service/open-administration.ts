import type { Administration } from './administration.js';
import { openCore } from './core.js';
import type { ServiceOptions } from './service.js';

export interface OpenedAdministration {
  administration: Administration;
  close(): Promise<void>;
}

/**
 * Opens the data of a service for its owner, beside instances that run: dispatches nothing, listens nowhere, makes no
 * key. Rejects with NoDataError for a database without a service; the folder has to be one with data.
 */
export async function openAdministration(
  options: Pick<ServiceOptions, 'directory' | 'database' | 'secret' | 'report'>,
): Promise<OpenedAdministration> {
  const { administration, close } = await openCore(options, {}, { forOwner: true });
  return { administration, close };
}
