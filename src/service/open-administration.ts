import { closeSync, openSync } from 'node:fs';
import type { Administration } from './administration.js';
import { actAs, type Owner, otherOwnerOf } from './as-owner.js';
import { openCore } from './core.js';
import { DataError } from './errors/data-error.js';
import type { ServiceOptions } from './service.js';

export interface OpenedAdministration {
  administration: Administration;
  close(): Promise<void>;
}

/**
 * Opens the data of a service for its owner, beside running instances: dispatches nothing, listens nowhere, creates
 * no key. Run by root for another user, it has that user's rights until it is closed. Rejects with NoDataError for a
 * database without a service; a folder must already have data.
 */
export async function openAdministration(
  options: Pick<ServiceOptions, 'directory' | 'database' | 'databaseSchema' | 'secret' | 'report'>,
): Promise<OpenedAdministration> {
  const owner = options.directory === undefined ? null : otherOwnerOf(options.directory);
  const back = owner === null ? () => {} : actAs(owner);
  try {
    if (owner !== null) checkProgram(owner);
    const { administration, close } = await openCore(options, {}, { forOwner: true });
    return { administration, close: () => close().finally(back) };
  } catch (error) {
    back();
    throw owner !== null && (error as NodeJS.ErrnoException).code === 'EACCES'
      ? refused(owner, error)
      : error;
  }
}

/** Root's folder below one of the user is opened with the user's rights, too. */
const refused = ({ uid }: Owner, cause: unknown) =>
  new DataError(`root opens this folder with the rights of the user ${uid}: ${(cause as Error).message}`, {
    hint: "Keep root's data outside the folders of other users, or give it to that user with chown.",
    cause,
  });

/** Throws DataError if the other user may not read this program, whose parts load when they are needed. */
function checkProgram({ uid }: Owner): void {
  const [, program] = process.argv;
  if (program === undefined) return;
  try {
    closeSync(openSync(program, 'r'));
  } catch (cause) {
    throw new DataError(`the data belongs to the user ${uid}, who cannot read this program at ${program}`, {
      hint: 'Install the program where that user can read it, or run the command as that user.',
      cause,
    });
  }
}
