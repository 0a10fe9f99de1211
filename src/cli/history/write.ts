import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { releaseLockFile, takeLockFile } from '../platform/lock-file.js';
import { renameFileSync } from '../platform/rename.js';
import type { Clock } from '../time/clock.js';
import { entryOf, type HistoryEntry, maxAge } from './file.js';

/** Pruning a large file takes longest. */
const lockTimes = { staleAfter: 1_000, longestWait: 2_000 };

/** Adds an entry; the first one of a day removes those older than 90 days. Throws if the file cannot be written. */
export async function writeEntry(
  file: string,
  entry: HistoryEntry,
  clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>,
): Promise<void> {
  const lock = `${file}.lock`;
  const isLocked = (await takeLockFile(lock, clock, lockTimes)) === 'taken';
  try {
    const before = append(file, `${JSON.stringify(entry)}\n`);
    if (isLocked && dayOf(before) !== dayOf(entry)) prune(file, clock.now());
  } finally {
    if (isLocked) releaseLockFile(lock);
  }
}

const dayOf = (entry: HistoryEntry | null) => entry?.time.slice(0, 10);

/** Returns the previous entry. */
function append(file: string, line: string, isSecond = false): HistoryEntry | null {
  const descriptor = openSync(file, 'a+', 0o600);
  try {
    const end = endOf(descriptor);
    // A process may have been killed in the middle of a line.
    writeSync(descriptor, end === '' || end.endsWith('\n') ? line : `\n${line}`);
    // A process that thought this one was dead may have just pruned the file.
    if (!isSecond && fstatSync(descriptor).ino !== statSync(file).ino) return append(file, line, true);
    return entryOf(end.trimEnd().split('\n').at(-1) ?? '');
  } finally {
    closeSync(descriptor);
  }
}

const longestLine = 4_096;

function endOf(descriptor: number): string {
  const { size } = fstatSync(descriptor);
  const buffer = Buffer.alloc(Math.min(size, longestLine));
  return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, size - buffer.length));
}

/**
 * By the age relative to the second newest entry, since the clock of the newest may be wrong. Nothing is removed if
 * the clock is over 90 days ahead of it.
 */
function prune(file: string, now: number): void {
  const shorter = `${file}.${process.pid}.new`;
  try {
    if (writeShorter(file, shorter, now)) renameFileSync(shorter, file);
  } finally {
    rmSync(shorter, { force: true });
  }
}

/** False if all entries stay. */
function writeShorter(file: string, shorter: string, now: number): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const kept = linesToKeep(readFileSync(descriptor, 'utf8').split('\n').filter(Boolean), now);
    if (kept === null) return false;
    writeFileSync(shorter, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    // From a process that stopped waiting for the lock.
    for (let more = readFileSync(descriptor); more.length > 0; more = readFileSync(descriptor))
      appendFileSync(shorter, more);
    // Another process without the lock may have pruned the file.
    return fstatSync(descriptor).ino === statSync(file).ino;
  } finally {
    closeSync(descriptor);
  }
}

/** Null if all stay. */
function linesToKeep(lines: readonly string[], now: number): readonly string[] | null {
  const times = lines.map((line) => Date.parse(entryOf(line)?.time ?? ''));
  const newest = times.filter(Number.isFinite).sort((a, b) => b - a)[1];
  if (newest === undefined || now - newest > maxAge) return null;
  const since = Math.min(newest, now) - maxAge;
  const kept = lines.filter((_, index) => (times[index] ?? 0) >= since);
  return kept.length === lines.length ? null : kept;
}
