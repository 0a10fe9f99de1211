import { join } from 'node:path';
import { machineError, refusedError, stateHint } from '../../errors.js';
import { lockFolder } from '../../platform/lock.js';
import type { HeldLock } from '../../platform/lock-types.js';
import { makeFolder } from '../../platform/make-folder.js';

interface Patience {
  /** Resolves when the lock should be tried again. */
  pause(): Promise<void>;
  /** How many times the holder may fail to answer, after a second each. */
  mostUnanswered: number;
}

/**
 * Runs `work` while no other process of this user creates a job: of two that start at once, the later one sees the
 * earlier one. Throws CliError (exit 11) if a paused process holds the lock.
 */
export async function withStartLock<Value>(
  stateDirectory: string,
  { pause, mostUnanswered }: Patience,
  work: (lock: HeldLock) => Promise<Value>,
): Promise<Value> {
  const folder = join(stateDirectory, 'starting');
  for (let unanswered = 0; unanswered < mostUnanswered; ) {
    const lock = await lockIn(folder);
    if (lock.held) return work(lock).finally(() => lock.release());
    if (lock.pid === null) unanswered += 1;
    await pause();
  }
  const hint = 'Nothing was sent. Resume or end that process, then run this again.';
  throw refusedError('job_locked', 'a paused process is starting another job', hint);
}

async function lockIn(folder: string) {
  try {
    makeFolder(folder);
    return await lockFolder(folder);
  } catch (error) {
    throw machineError(`the folder ${folder} cannot be used`, error, stateHint(error));
  }
}
