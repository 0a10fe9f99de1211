import type { ByteStore } from './archive.js';
import { WorkbookError } from './workbook-error.js';

const mostBytes = 100_000_000;

/** Holds a workbook in memory, for commands that store no files. */
export class MemoryStore implements ByteStore {
  size = 0;
  #bytes = Buffer.alloc(65_536);

  append(bytes: Uint8Array): void {
    const size = this.size + bytes.length;
    if (size > mostBytes) throw new WorkbookError('has over 100 MB', 'Save the sheet as CSV (UTF-8).');
    if (size > this.#bytes.length) {
      const wider = Buffer.alloc(Math.max(size, this.#bytes.length * 2));
      wider.set(this.#bytes.subarray(0, this.size));
      this.#bytes = wider;
    }
    this.#bytes.set(bytes, this.size);
    this.size = size;
  }

  read(position: number, length: number): Buffer {
    return this.#bytes.subarray(position, Math.min(position + length, this.size));
  }
}
