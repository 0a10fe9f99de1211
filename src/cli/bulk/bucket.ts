import { closeSync, constants, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../config/make-folder.js';

/** A token bucket at a moment; times are milliseconds since 1970. */
export interface Bucket {
  /** Tokens at `at`; below 0 when more were taken than are there. */
  tokens: number;
  at: number;
  /** Nothing may be taken before: the service said so. */
  blockedUntil: number;
  /** Whether an answer of the service has ever set it right. */
  known: boolean;
}

export interface Allowance {
  perSecond: number;
  burst: number;
}

/** Of a bucket that nobody has kept, only one token is sure; the first answer says how many there are. */
export function unknownBucket(now: number): Bucket {
  return { tokens: 1, at: now, blockedUntil: 0, known: false };
}

/** The bucket now. A clock that was set back makes it unknown. */
export function refill(bucket: Bucket, allowance: Allowance, now: number): Bucket {
  if (now < bucket.at - 1_000) return unknownBucket(now);
  const gained = (Math.max(0, now - bucket.at) * allowance.perSecond) / 1_000;
  return {
    ...bucket,
    tokens: Math.min(allowance.burst, bucket.tokens + gained),
    at: Math.max(now, bucket.at),
    // An hour is more than any block the service gives; a later one is a clock that was set back.
    blockedUntil: bucket.blockedUntil > now + 3_600_000 ? 0 : bucket.blockedUntil,
  };
}

/** Milliseconds until a token can be taken; 0 when it can be now. */
export function waitFor(bucket: Bucket, allowance: Allowance, now: number): number {
  const lacking = Math.max(0, 1 - bucket.tokens);
  return Math.max(0, bucket.blockedUntil - now, Math.ceil((lacking * 1_000) / allowance.perSecond));
}

/** Where a bucket is kept while it is changed. `change` runs alone among all processes that share it. */
export interface BucketStore {
  update<T>(name: string, change: (bucket: Bucket | null) => { bucket: Bucket; result: T }): T;
}

/** For a single process, and for when the folder cannot be written. */
export function memoryBuckets(): BucketStore {
  const buckets = new Map<string, Bucket>();
  return {
    update(name, change) {
      const { bucket, result } = change(buckets.get(name) ?? null);
      buckets.set(name, bucket);
      return result;
    },
  };
}

/**
 * One small file a bucket, changed under a lock file that is held for well under a millisecond. A lock older
 * than a second belongs to a process that died holding it. Whatever is wrong with the files only loses the
 * sharing: pace is a courtesy to the service, which refuses what is too much.
 */
export function fileBuckets(folder: string): BucketStore {
  const fallback = memoryBuckets();
  return {
    update(name, change) {
      const path = `${folder}/${name}.json`;
      return fallback.update(name, (own) => {
        const locked = takeLock(`${path}.lock`);
        try {
          const changed = change(readBucket(path) ?? own);
          if (locked) writeBucket(path, changed.bucket);
          return changed;
        } finally {
          if (locked) rmSync(`${path}.lock`, { force: true });
        }
      });
    },
  };
}

function takeLock(path: string): boolean {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') mkdirQuietly(dirname(path));
      else if (code === 'EEXIST') waitOrBreak(path);
      else return false;
    }
  }
  return false;
}

function mkdirQuietly(folder: string): void {
  try {
    makeFolder(folder);
  } catch {}
}

function waitOrBreak(path: string): void {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    if (Math.abs(age) > 1_000) rmSync(path, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  } catch {}
}

function readBucket(path: string): Bucket | null {
  try {
    const { tokens, at, blockedUntil, known } = JSON.parse(readFileSync(path, 'utf8'));
    const numbers = [tokens, at, blockedUntil].every(Number.isFinite);
    return numbers ? { tokens, at, blockedUntil, known: known === true } : null;
  } catch {
    return null;
  }
}

/** Always the same length, written over: emptying a file first costs ext4 a millisecond. */
function writeBucket(path: string, bucket: Bucket): void {
  try {
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(file, JSON.stringify(bucket).padEnd(200), 0);
    } finally {
      closeSync(file);
    }
  } catch {}
}
