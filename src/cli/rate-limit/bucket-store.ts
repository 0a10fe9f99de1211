import { closeSync, constants, openSync, readSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../platform/make-folder.js';
import type { Changed, TokenBucket } from './token-bucket.js';

type Change<T> = (bucket: TokenBucket | null) => Changed<T>;

/** Token buckets by name. `change` runs alone among the processes that share the store. Never rejects. */
export interface BucketStore {
  update<T>(name: string, change: Change<T>): Promise<T>;
}

/** For one process. */
export function memoryBuckets(): BucketStore {
  const buckets = new Map<string, TokenBucket>();
  return {
    async update(name, change) {
      const { bucket, result } = change(buckets.get(name) ?? null);
      buckets.set(name, bucket);
      return result;
    },
  };
}

interface Timer {
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** A lock is held for under a millisecond; an older one belongs to a process that died. */
const staleAfter = 250;
const lockPause = 2;
/** After that the process goes on without the lock: the service enforces its rate limit anyway. */
const longestLockWait = 2_000;

/**
 * One small file for each bucket, changed under a lock file. The files cannot stop a command: an unreadable bucket
 * counts as unknown, and in a folder that cannot be written the buckets live in memory.
 */
export function fileBuckets(folder: string, timer: Timer): BucketStore {
  const own = new Map<string, TokenBucket>();
  let usable = true;

  async function lock(path: string): Promise<'taken' | 'late' | 'impossible'> {
    const began = timer.elapsed();
    let seen = { holder: '', since: began };
    while (timer.elapsed() - began < longestLockWait) {
      const outcome = tryLock(path);
      if (outcome !== 'held') return outcome;
      const holder = identityOf(path);
      const now = timer.elapsed();
      // By identity, not by age: the clock may have been set.
      if (holder !== seen.holder) seen = { holder, since: now };
      else if (now - seen.since >= staleAfter) removeQuietly(path);
      await timer.sleep(lockPause);
    }
    return 'late';
  }

  return {
    async update(name, change) {
      const path = `${folder}/${name}.json`;
      const outcome = usable ? await lock(`${path}.lock`) : 'impossible';
      // A bucket that can be read but not written would refill and never be spent.
      if (outcome === 'impossible') usable = false;
      const kept = own.get(name) ?? null;
      const shared = outcome === 'taken' ? exchange(path, kept, change) : null;
      if (outcome === 'taken') removeQuietly(`${path}.lock`);
      if (outcome === 'taken' && shared === null) usable = false;
      const { bucket, result } = shared ?? change(kept);
      own.set(name, bucket);
      return result;
    },
  };
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

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

const length = 256;
const version = 1;

/** Null when the file cannot be read and written; nothing has changed then. */
function exchange<T>(
  path: string,
  own: TokenBucket | null,
  change: Change<T>,
): { bucket: TokenBucket; result: T } | null {
  let file: number | null = null;
  try {
    // O_NONBLOCK: opening a named pipe would hang.
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
    file = openSync(path, flags, 0o600);
    const buffer = Buffer.alloc(length);
    const size = readSync(file, buffer, 0, length, 0);
    const kept = size === 0 ? own : (decode(buffer.toString('latin1', 0, size)) ?? own);
    const changed = change(kept);
    writeSync(file, encode(changed.bucket), 0, 'latin1');
    return changed;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Always the same length, to overwrite in place: truncating first costs a millisecond on ext4. */
function encode({ tokens, at, blocked, known }: TokenBucket): string {
  const { wall, elapsed } = at;
  return `${JSON.stringify({ version, tokens, wall, elapsed, blocked, known }).padEnd(length - 1)}\n`;
}

function decode(text: string): TokenBucket | null {
  try {
    const { version: written, tokens, wall, elapsed, blocked, known } = JSON.parse(text);
    if (written !== version || ![tokens, wall, elapsed, blocked].every(Number.isFinite)) return null;
    return { tokens, at: { wall, elapsed }, blocked, known: known === true };
  } catch {
    return null;
  }
}
