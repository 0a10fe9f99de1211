import type { PlanDisk } from './plan-disk.js';

const blockBytes = 256 * 1024;
const smallRead = 4 * 1024;

/** Reads a file in blocks: small ones at random positions, larger ones in order. */
export class BufferedReader {
  readonly #disk: PlanDisk;
  readonly #file: number;
  #room = Buffer.allocUnsafeSlow(smallRead);
  #block = this.#room.subarray(0, 0);
  #start = 0;

  constructor(disk: PlanDisk, file: number) {
    this.#disk = disk;
    this.#file = file;
  }

  /** Bytes, valid until the next read; fewer only at the end of the file. */
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
