import { RowSet } from '../row-set.js';
import type { BufferedFile } from './buffered-file.js';

/** Placeholders for the message of a row without one. */
export const rejectedRow = 0xffff_ffff;
export const skippedRow = 0xffff_fffe;
export const excludedRow = 0xffff_fffd;
/** No message has such a number, or a higher one. */
export const noMessage = excludedRow;

/** Receives rows of `rowFields` numbers each: line, recipient, message, pair. `first` is the number of the first row. */
export type RowBlockVisitor = (rows: Uint32Array, first: number) => void;

export const rowFields = 4;
/** The most rows of a block. */
export const blockRows = 8_192;

/** The rows of the input as line, recipient reference, message number and pair: 16 bytes a row, in a file. */
export class RowStore {
  length = 0;
  /** Rows that are left out after all. */
  readonly skipped = new RowSet();
  readonly #file: BufferedFile;
  readonly #pending = new Uint32Array(blockRows * rowFields);
  #used = 0;

  constructor(file: BufferedFile) {
    this.#file = file;
  }

  add(line: number, recipient: number, message: number, pair = 0): void {
    const pending = this.#pending;
    pending[this.#used] = line;
    pending[this.#used + 1] = recipient;
    pending[this.#used + 2] = message;
    pending[this.#used + 3] = pair;
    this.#used += rowFields;
    this.length += 1;
    if (this.#used === pending.length) this.#flush();
  }

  /** Visits all rows in order, block by block, because a call for each row would cost more than its work. */
  scan(visit: RowBlockVisitor): void {
    this.#flush();
    this.#file.flush();
    for (let row = 0; row < this.length; ) {
      const count = Math.min(blockRows, this.length - row);
      const bytes = this.#file.read(row * rowFields * 4, count * rowFields * 4);
      const rows = new Uint32Array(bytes.buffer, bytes.byteOffset, count * rowFields);
      for (let at = 0; at < count && this.skipped.size > 0; at += 1)
        if (this.skipped.has(row + at)) rows[at * rowFields + 2] = skippedRow;
      visit(rows, row);
      row += count;
    }
  }

  #flush(): void {
    this.#file.append(new Uint8Array(this.#pending.buffer, 0, this.#used * 4));
    this.#used = 0;
  }
}
