import { createHash, type Hash } from 'node:crypto';
import type { Disk } from './plan-disk.js';

const blockBytes = 256 * 1024;
const smallRead = 4 * 1024;

export interface FileSeal {
  bytes: number;
  sha256: string;
}

/** A file read in blocks: small ones at random places, larger ones where it is read in order. */
export class BlockReader {
  readonly #disk: Disk;
  readonly #file: number;
  #room = Buffer.allocUnsafeSlow(smallRead);
  #block = this.#room.subarray(0, 0);
  #start = 0;

  constructor(disk: Disk, file: number) {
    this.#disk = disk;
    this.#file = file;
  }

  /** The bytes at a place; valid until the next read. Shorter only at the end of the file. */
  read(position: number, length: number): Buffer {
    const end = this.#start + this.#block.length;
    if (position < this.#start || position + length > end) {
      const inOrder = position >= this.#start && position <= end;
      const size = inOrder ? Math.min(this.#block.length * 2, blockBytes) : smallRead;
      this.#fill(position, Math.max(length, size, smallRead));
    }
    const from = position - this.#start;
    return this.#block.subarray(from, from + length);
  }

  #fill(position: number, size: number): void {
    if (size > this.#room.length) this.#room = Buffer.allocUnsafeSlow(size);
    let got = 0;
    while (got < size) {
      const count = this.#disk.read(this.#file, this.#room.subarray(got, size), position + got);
      if (count === 0) break;
      got += count;
    }
    this.#block = this.#room.subarray(0, got);
    this.#start = position;
  }
}

/** A new file that is appended to in large writes, and can be read while it grows. */
export class BlockFile {
  readonly path: string;
  readonly #disk: Disk;
  readonly #file: number;
  readonly #reader: BlockReader;
  readonly #hash: Hash | null;
  readonly #pending = Buffer.allocUnsafeSlow(blockBytes);
  #used = 0;
  #flushed = 0;
  #open = true;

  constructor(disk: Disk, path: string, { sealed }: { sealed: boolean }) {
    this.path = path;
    this.#disk = disk;
    this.#file = disk.open(path, 'wx+');
    this.#reader = new BlockReader(disk, this.#file);
    this.#hash = sealed ? createHash('sha256') : null;
  }

  get size(): number {
    return this.#flushed + this.#used;
  }

  append(bytes: Uint8Array): void {
    if (bytes.length > blockBytes - this.#used) this.flush();
    if (bytes.length > blockBytes) {
      this.#write(bytes);
    } else {
      this.#pending.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  appendText(text: string): void {
    // A UTF-16 code unit takes at most 3 bytes.
    if (text.length * 3 > blockBytes - this.#used) this.append(Buffer.from(text));
    else this.#used += this.#pending.write(text, this.#used);
  }

  read(position: number, length: number): Buffer {
    if (position >= this.#flushed) {
      const from = position - this.#flushed;
      return this.#pending.subarray(from, from + length);
    }
    if (position + length > this.#flushed) this.flush();
    return this.#reader.read(position, length);
  }

  flush(): void {
    if (this.#used === 0) return;
    const bytes = this.#pending.subarray(0, this.#used);
    this.#used = 0;
    this.#write(bytes);
  }

  /** Writes what is left and makes it durable. */
  seal(): FileSeal {
    this.flush();
    this.#disk.sync(this.#file);
    this.close();
    return { bytes: this.#flushed, sha256: this.#hash?.digest('hex') ?? '' };
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#disk.close(this.#file);
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += this.#disk.write(this.#file, bytes.subarray(done));
    this.#hash?.update(bytes);
    this.#flushed += bytes.length;
  }
}
