// Not node:fs/promises, which would slow down every send by 2 ms.
import { rename, renameSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { platformOf } from './platform.js';

/** How long a rename waits for other programs to close the file, in milliseconds; 1.3 s in total. */
const pauses: readonly number[] = [10, 20, 40, 80, 160, 320, 640];

export interface RenameCalls<Done> {
  platform: NodeJS.Platform;
  rename(from: string, to: string): Done;
  sleep(milliseconds: number): Done;
  isFolder(path: string): boolean;
}

const real: RenameCalls<Promise<unknown>> = {
  platform: process.platform,
  rename: (from, to) => promisify(rename)(from, to),
  sleep: (milliseconds) => promisify(setTimeout)(milliseconds),
  isFolder,
};
const realSync: RenameCalls<void> = {
  platform: process.platform,
  rename: renameSync,
  sleep: sleepSync,
  isFolder,
};

/** Renames, even onto a file that a virus scanner or an indexer of Windows has open for a moment. */
export async function renameFile(from: string, to: string, calls = real): Promise<void> {
  for (const pause of [...pauses, null]) {
    try {
      await calls.rename(from, to);
      return;
    } catch (error) {
      await calls.sleep(pauseAfter(error, to, pause, calls));
    }
  }
}

/** Blocks the process. */
export function renameFileSync(from: string, to: string, calls = realSync): void {
  for (const pause of [...pauses, null]) {
    try {
      calls.rename(from, to);
      return;
    } catch (error) {
      calls.sleep(pauseAfter(error, to, pause, calls));
    }
  }
}

/** Milliseconds to wait after a failure; throws an error that waiting cannot fix. */
function pauseAfter(
  error: unknown,
  to: string,
  pause: number | null,
  { platform, isFolder }: Pick<RenameCalls<unknown>, 'platform' | 'isFolder'>,
): number {
  if (!platformOf(platform).busyErrors.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  // Windows has one error for a busy file and an existing folder.
  if (isFolder(to)) throw Object.assign(error as Error, { code: 'EEXIST' });
  if (pause === null) throw error;
  return pause;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
