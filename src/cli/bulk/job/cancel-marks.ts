import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../platform/sync-folder.js';

/**
 * A job is cancelled while its folder has a mark: an empty file, which earlier releases ignore. Each `jobs cancel` adds
 * its own, so that a resume removes the marks made before it and never a later one.
 */
const prefix = 'cancel.';

/** Returns the name of the mark once it is durable. */
export async function addCancelMark(folder: string): Promise<string> {
  const mark = `${prefix}${randomUUID()}`;
  await writeFile(join(folder, mark), '', { flag: 'wx', mode: 0o600 });
  await syncFolder(folder);
  return mark;
}

export async function cancelMarks(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(prefix));
}

/** Resolves when the removal is durable. */
export async function removeCancelMarks(folder: string, marks: readonly string[]): Promise<void> {
  if (marks.length === 0) return;
  for (const mark of marks) await rm(join(folder, mark), { force: true });
  await syncFolder(folder);
}
