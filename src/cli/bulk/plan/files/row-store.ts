import type { BufferedFile } from './buffered-file.js';

/** Placeholders for the message of a row without one. */
export const rejectedRow = 0xffff_ffff;
export const skippedRow = 0xffff_fffe;

/** Receives rows of `rowFields` numbers each: line, recipient, message, pair. `first` is the number of the first row. */
export type RowBlockVisitor = (rows: Uint32Array, first: number) => void;

export const rowFields = 4;
const blockRows = 8_192;

/** The rows of the input as line, recipient reference, message number and pair: 16 bytes a row, in a file. */
export class RowStore {
  length = 0;
  readonly #file: BufferedFile;
  readonly #onRows: RowBlockVisitor;
  readonly #pending = new Uint32Array(blockRows * rowFields);
  #used = 0;

  /** `onRows` receives the added rows in order, thousands at a time, which is faster than one by one. */
  constructor(file: BufferedFile, onRows: RowBlockVisitor) {
    this.#file = file;
    this.#onRows = onRows;
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
    this.finish();
    for (let row = 0; row < this.length; ) {
      const count = Math.min(blockRows, this.length - row);
      const bytes = this.#file.read(row * rowFields * 4, count * rowFields * 4);
      visit(new Uint32Array(bytes.buffer, bytes.byteOffset, count * rowFields), row);
      row += count;
    }
  }

  /** Passes the last rows to `onRows`; none may be added afterwards. */
  finish(): void {
    this.#flush();
    this.#file.flush();
  }

  #flush(): void {
    const block = this.#pending.subarray(0, this.#used);
    this.#onRows(block, this.length - this.#used / rowFields);
    this.#file.append(new Uint8Array(this.#pending.buffer, 0, this.#used * 4));
    this.#used = 0;
  }
}
