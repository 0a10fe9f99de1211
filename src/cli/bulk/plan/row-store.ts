import type { BlockFile } from './buffered-file.js';

/** Message numbers that stand for a row without one. */
export const rejectedRow = 0xffff_ffff;
export const rowNotChosen = 0xffff_fffe;

/** Rows one after the other, `rowFields` numbers each: line, recipient, message. `first` is the first row's number. */
export type RowBlockVisitor = (rows: Uint32Array, first: number) => void;

export const rowFields = 3;
const spoolRows = 8_192;

/** What the planner keeps of every row between reading and writing: line, recipient, message. 12 bytes. */
export class RowSpool {
  length = 0;
  /** Gets every row that was added, in order, some thousands at a time: near one another in time is faster. */
  onRows: RowBlockVisitor = () => undefined;
  readonly #file: BlockFile;
  readonly #pending = new Uint32Array(spoolRows * rowFields);
  #used = 0;

  constructor(file: BlockFile) {
    this.#file = file;
  }

  add(line: number, recipient: number, message: number): void {
    const pending = this.#pending;
    pending[this.#used] = line;
    pending[this.#used + 1] = recipient;
    pending[this.#used + 2] = message;
    this.#used += rowFields;
    this.length += 1;
    if (this.#used === pending.length) this.#flush();
  }

  /** Hands all rows to `visit`, in order, block by block: a call for each would cost more than what it does. */
  scan(visit: RowBlockVisitor): void {
    this.finish();
    for (let row = 0; row < this.length; ) {
      const count = Math.min(spoolRows, this.length - row);
      const bytes = this.#file.read(row * rowFields * 4, count * rowFields * 4);
      visit(new Uint32Array(bytes.buffer, bytes.byteOffset, count * rowFields), row);
      row += count;
    }
  }

  /** Hands the last rows to `onRows`; none may be added after. */
  finish(): void {
    this.#flush();
    this.#file.flush();
  }

  #flush(): void {
    const block = this.#pending.subarray(0, this.#used);
    this.onRows(block, this.length - this.#used / rowFields);
    this.#file.append(new Uint8Array(this.#pending.buffer, 0, this.#used * 4));
    this.#used = 0;
  }
}
