import { grown } from './files/hash-index.js';

/** A set of numbers, such as those of rows: one bit for each number up to the last one added, or below `count`. */
export class RowSet {
  size = 0;
  #bits: Uint8Array;

  constructor(count = 8_192) {
    this.#bits = new Uint8Array(Math.ceil(count / 8));
  }

  /** Returns whether it was not in the set before. */
  add(row: number): boolean {
    const at = row >>> 3;
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, Math.max(at + 1, this.#bits.length * 2));
    const bit = 1 << (row & 7);
    const byte = this.#bits[at] ?? 0;
    if ((byte & bit) !== 0) return false;
    this.size += 1;
    this.#bits[at] = byte | bit;
    return true;
  }

  has(row: number): boolean {
    return ((this.#bits[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }
}
