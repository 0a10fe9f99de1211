import type { Administration } from './administration.js';
import { actAs, otherOwnerOf } from './as-owner.js';
import { openCore } from './core.js';
import type { ServiceOptions } from './service.js';

export interface OpenedAdministration {
  administration: Administration;
  close(): Promise<void>;
}

/**
 * Opens the data of a service for its owner, beside running instances: dispatches nothing, listens nowhere, creates
 * no key. Run by root for another user, it has that user's rights until it is closed. Rejects with NoDataError for a database without a service; a folder must already have data.
 */
export async function openAdministration(
  options: Pick<ServiceOptions, 'directory' | 'database' | 'databaseSchema' | 'secret' | 'report'>,
): Promise<OpenedAdministration> {
  const owner = options.directory === undefined ? null : otherOwnerOf(options.directory);
  const back = owner === null ? () => {} : actAs(owner);
  try {
    const { administration, close } = await openCore(options, {}, { forOwner: true });
    return { administration, close: () => close().finally(back) };
  } catch (error) {
    back();
    throw error;
  }
}
