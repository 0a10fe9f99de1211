import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { sizeOf } from './folder.js';

/** What SQLite's -shm records about the -wal: see "WAL-Index Header" in its documentation of the format. */
interface WalIndex {
  pageSize: number;
  frames: number;
}

const headerBytes = 32;
const frameHeaderBytes = 24;

/** Whether a -wal is shorter than its index says. Emptying it properly clears the index. */
export function isWalCutOff(wal: string): boolean {
  const index = wal.replace(/-wal$/, '-shm');
  const before = readIndex(index);
  const size = sizeOf(wal) ?? 0;
  const { pageSize, frames } = readIndex(index);
  // Another process is writing it.
  if (frames !== before.frames) return false;
  return frames > 0 && size < headerBytes + frames * (pageSize + frameHeaderBytes);
}

function readIndex(path: string): WalIndex {
  const bytes = new DataView(new ArrayBuffer(20));
  const file = fileOf(path);
  try {
    readSync(file, bytes, 0, 20, 0);
  } finally {
    if (!staysOpen) closeSync(file);
  }
  // Written in the machine's byte order; the first number is the version, 3007000.
  const little = bytes.getUint32(0, true) === 3_007_000;
  const size = bytes.getUint16(14, little);
  return { pageSize: size === 1 ? 65_536 : size, frames: bytes.getUint32(16, little) };
}

/**
 * Closing a file releases all of the process's locks on it, including SQLite's, except on Windows: the next process
 * would think it is the first, and empty the -shm.
 */
const staysOpen = process.platform !== 'win32';
const opened = new Map<string, number>();

function fileOf(path: string): number {
  const known = opened.get(path);
  if (known !== undefined && fstatSync(known).ino === statSync(path).ino) return known;
  const file = openSync(path, 'r');
  if (staysOpen) opened.set(path, file);
  return file;
}
