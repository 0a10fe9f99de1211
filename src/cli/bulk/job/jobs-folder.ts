import { randomUUID } from 'node:crypto';
import { readdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError, machineError, stateHint } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import type { HeldLock } from '../../platform/lock-types.js';
import { makeFolder } from '../../platform/make-folder.js';
import { renameFile } from '../../platform/rename.js';
import { didYouMean } from '../../text/suggest.js';
import { isJobName, readJobId } from './keys.js';

const newPrefix = '.new-';
const removedPrefix = '.removed-';
const dayOld = 86_400_000;

/** The folder of all jobs, private to the user. */
export function jobsFolder(stateDirectory: string): string {
  return join(stateDirectory, 'jobs');
}

/** Where the job with an id is, or would be. */
export const folderOf = (stateDirectory: string, id: string): string => join(jobsFolder(stateDirectory), id);

/** The folder of a job. Throws CliError (exit 12) if there is none. */
export async function jobFolder(stateDirectory: string, id: string): Promise<string> {
  const { base } = readJobId(id);
  const folder = folderOf(stateDirectory, id);
  const exists = isJobName(base) && (await stat(folder).catch(() => null))?.isDirectory();
  // macOS and Windows also find a folder by its name in other capitals.
  const real = exists ? await realpath(folder).catch(() => folder) : '';
  if (exists && !isOtherCase(basename(real), id)) return folder;
  throw noJob(id, await jobIds(stateDirectory).catch(() => []));
}

/** Whether two names differ only in capitals. */
export const isOtherCase = (name: string, id: string) =>
  name !== id && name.toLowerCase() === id.toLowerCase();

export const noJob = (id: string, others: readonly string[] = []) =>
  new CliError('not_found', exits.missing, `there is no job ${id}`, {
    hint: `${didYouMean(id, others)}See: \`urtuu jobs list\``,
  });

/** Whether an error means that a job does not exist, or no longer exists. */
export const isNoJob = (error: unknown) => error instanceof CliError && error.code === 'not_found';

/** The ids of all jobs, in order. */
export async function jobIds(stateDirectory: string): Promise<string[]> {
  const names = await readdir(jobsFolder(stateDirectory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw machineError('the jobs could not be listed', error);
  });
  return names.filter((name) => !name.startsWith('.')).sort();
}

/** The path for a new plan, beside the jobs. Also removes what crashes left behind. */
export async function folderForPlan(stateDirectory: string, unique: string, now: number): Promise<string> {
  const jobs = jobsFolder(stateDirectory);
  try {
    makeFolder(jobs);
  } catch (error) {
    throw machineError(`the folder ${jobs} could not be created`, error, stateHint(error));
  }
  for (const name of await readdir(jobs)) {
    if (!name.startsWith(newPrefix) && !name.startsWith(removedPrefix)) continue;
    const age = now - (await stat(join(jobs, name)).catch(() => ({ mtimeMs: now }))).mtimeMs;
    if (age > dayOld) await rm(join(jobs, name), { recursive: true, force: true });
  }
  return join(jobs, `${newPrefix}${unique}`);
}

/** Removes a locked job. It disappears from the list at once, so no command sees a part of it. */
export async function removeJobFolder(folder: string, lock: HeldLock): Promise<void> {
  const unlisted = join(dirname(folder), `${removedPrefix}${randomUUID()}`);
  try {
    await renameFile(folder, unlisted);
  } catch (error) {
    await lock.release();
    throw machineError(`${folder} could not be removed`, error);
  }
  await lock.releaseRemoved();
  await rm(unlisted, { recursive: true, force: true });
}
