import { grown } from './files/hash-index.js';

/** A set of row numbers: one bit for each row up to the last one added. */
export class RowSet {
  size = 0;
  #bits = new Uint8Array(1_024);

  add(row: number): void {
    const at = row >>> 3;
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, Math.max(at + 1, this.#bits.length * 2));
    const bit = 1 << (row & 7);
    const byte = this.#bits[at] ?? 0;
    if ((byte & bit) === 0) this.size += 1;
    this.#bits[at] = byte | bit;
  }

  has(row: number): boolean {
    return ((this.#bits[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }
}
