import { closeSync, openSync, readSync } from 'node:fs';
import { sizeOf } from './folder.js';

/** What SQLite's -shm says of the -wal: see "WAL-Index Header" in its description of the format. */
interface WalIndex {
  pageSize: number;
  frames: number;
}

const headerBytes = 32;
const frameHeaderBytes = 24;

/**
 * The index of a -wal. Its file stays open until SQLite has closed the database: to close it would take SQLite's locks
 * on it (fcntl(2)).
 */
export class WalIndexFile {
  readonly #wal: string;
  #file: number | null = null;

  constructor(wal: string) {
    this.#wal = wal;
  }

  /** Whether the -wal is shorter than this says. A program may empty it in order, which clears that. */
  isWalCutOff(): boolean {
    this.#file ??= openSync(this.#wal.replace(/-wal$/, '-shm'), 'r');
    const before = read(this.#file);
    const size = sizeOf(this.#wal) ?? 0;
    const { pageSize, frames } = read(this.#file);
    // Another process is writing it.
    if (frames !== before.frames) return false;
    return frames > 0 && size < headerBytes + frames * (pageSize + frameHeaderBytes);
  }

  /** After the database is closed. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function read(file: number): WalIndex {
  const bytes = new DataView(new ArrayBuffer(20));
  readSync(file, bytes, 0, 20, 0);
  // Written as the machine has its numbers; its first one is the version, 3007000.
  const little = bytes.getUint32(0, true) === 3_007_000;
  const size = bytes.getUint16(14, little);
  return { pageSize: size === 1 ? 65_536 : size, frames: bytes.getUint32(16, little) };
}
