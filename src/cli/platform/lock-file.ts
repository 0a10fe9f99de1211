import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.js';

interface Timer {
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** In milliseconds. */
export interface LockTimes {
  /** A lock is held for a moment; one held for longer belongs to a process that died or was paused. */
  staleAfter: number;
  longestWait: number;
}

const pause = 2;

/**
 * Takes a lock for a moment with a file that only one process can create; `impossible` if the folder has no room for
 * one.
 */
export async function takeLockFile(
  path: string,
  timer: Timer,
  { staleAfter, longestWait }: LockTimes,
): Promise<'taken' | 'late' | 'impossible'> {
  const began = timer.elapsed();
  let seen = { holder: '', since: began };
  while (timer.elapsed() - began < longestWait) {
    const outcome = tryLock(path);
    if (outcome !== 'held') return outcome;
    const holder = identityOf(path);
    const now = timer.elapsed();
    // Compared by identity, not by age, since the clock may have been set.
    if (holder !== seen.holder) seen = { holder, since: now };
    else if (now - seen.since >= staleAfter) releaseLockFile(path);
    await timer.sleep(pause);
  }
  return 'late';
}

export function releaseLockFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

function tryLock(path: string): 'taken' | 'held' | 'impossible' {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return 'taken';
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Windows fails with EPERM while a file of that name is being removed.
      if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return 'held';
      if (code !== 'ENOENT' || !madeFolder(dirname(path))) return 'impossible';
    }
  }
  return 'impossible';
}

function madeFolder(folder: string): boolean {
  try {
    makeFolder(folder);
    return true;
  } catch {
    return false;
  }
}

function identityOf(path: string): string {
  try {
    const { ino, mtimeMs, ctimeMs } = statSync(path);
    return `${ino} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return 'gone';
  }
}
