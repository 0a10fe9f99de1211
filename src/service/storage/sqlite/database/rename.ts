import { renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Errors of Windows for a file that another program, such as a virus scanner, has open for a moment. */
const openElsewhere = ['EPERM', 'EACCES', 'EBUSY'];
/** 0.5 s with the pauses between them. */
const mostTries = 50;

const real = { platform: process.platform, rename: renameSync, pause };

export function isOpenElsewhere(error: unknown, platform = process.platform): boolean {
  return platform === 'win32' && openElsewhere.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Renames a file or a folder. On Windows it waits for programs that have it open for a moment. */
export async function rename(from: string, to: string, calls = real): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return calls.rename(from, to);
    } catch (error) {
      if (!isOpenElsewhere(error, calls.platform) || tries === mostTries) throw error;
      await calls.pause(10);
    }
  }
}
