import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../platform/sync-folder.js';
import { type JobView, onJob } from './open-job.js';

/**
 * A job is cancelled while its folder has a mark: an empty file, which earlier releases ignore. Each `jobs cancel` adds
 * its own mark, so a resume removes only marks made before it. The functions throw CliError: exit 13 for a disk error,
 * 12 if the job was removed.
 */
const prefix = 'cancel.';

type MarkedJob = Pick<JobView, 'id' | 'folder'>;

/** Returns the name of the mark once it is durable. */
export async function addCancelMark(job: MarkedJob): Promise<string> {
  const mark = `${prefix}${randomUUID()}`;
  await onJob(job, writeFile(join(job.folder, mark), '', { flag: 'wx', mode: 0o600 }));
  await onJob(job, syncFolder(job.folder));
  return mark;
}

export async function cancelMarks(job: MarkedJob): Promise<string[]> {
  const names = await onJob(job, readdir(job.folder));
  return names.filter((name) => name.startsWith(prefix));
}

/** Resolves when the removal is durable. */
export async function removeCancelMarks(job: MarkedJob, marks: readonly string[]): Promise<void> {
  if (marks.length === 0) return;
  for (const mark of marks) await onJob(job, rm(join(job.folder, mark), { force: true }));
  await onJob(job, syncFolder(job.folder));
}
