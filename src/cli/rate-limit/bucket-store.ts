import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { releaseLockFile, takeLockFile } from '../platform/lock-file.js';
import type { Changed, TokenBucket } from './token-bucket.js';

type Change<T> = (bucket: TokenBucket | null) => Changed<T>;

/** Token buckets by name. `change` runs exclusively among the processes that share the store. Never rejects. */
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

/**
 * A lock is held for under a millisecond. Without it the process continues, since the service enforces its rate limit.
 */
const lockTimes = { staleAfter: 250, longestWait: 2_000 };

/**
 * One small file for each bucket, changed under a lock file. The files cannot stop a command: an unreadable bucket
 * counts as unknown, and if the folder is not writable, the buckets are kept in memory.
 */
export function fileBuckets(folder: string, timer: Parameters<typeof takeLockFile>[1]): BucketStore {
  const own = new Map<string, TokenBucket>();
  let usable = true;

  return {
    async update(name, change) {
      const path = `${folder}/${name}.json`;
      const lock = usable ? await takeLockFile(`${path}.lock`, timer, lockTimes) : 'impossible';
      const kept = own.get(name) ?? null;
      let updated: ReturnType<typeof change> | null = null;
      if (lock === 'taken') {
        updated = updateFile(path, kept, change);
        releaseLockFile(`${path}.lock`);
      }
      // A bucket that can be read but not written would refill without being spent.
      if (lock === 'impossible' || (lock === 'taken' && updated === null)) usable = false;
      const { bucket, result } = updated ?? change(kept);
      own.set(name, bucket);
      return result;
    },
  };
}

const fileLength = 256;
const version = 1;

/** Null if the file cannot be read and written; nothing has changed then. */
function updateFile<T>(path: string, own: TokenBucket | null, change: Change<T>): Changed<T> | null {
  let file: number | null = null;
  try {
    // O_NONBLOCK, because opening a named pipe would hang.
    const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
    file = openSync(path, flags, 0o600);
    const buffer = Buffer.alloc(fileLength);
    const size = readSync(file, buffer, 0, fileLength, 0);
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

/** Always of the same length, to overwrite it in place: truncating first takes a millisecond on ext4. */
function encode({ tokens, at, blocked, known }: TokenBucket): string {
  const { wall, elapsed } = at;
  return `${JSON.stringify({ version, tokens, wall, elapsed, blocked, known }).padEnd(fileLength - 1)}\n`;
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
