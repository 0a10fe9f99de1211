import type { BlockFile } from './block-file.js';

/** Message numbers that stand for a row without one. */
export const rejectedRow = 0xffff_ffff;
export const rowNotChosen = 0xffff_fffe;

const fields = 3;
const spoolRows = 8_192;

/** What the planner keeps of every row between reading and writing: line, recipient, message. 12 bytes. */
export class RowSpool {
  readonly #file: BlockFile;
  readonly #pending = new Uint32Array(spoolRows * fields);
  #used = 0;
  length = 0;

  constructor(file: BlockFile) {
    this.#file = file;
  }

  add(line: number, recipient: number, message: number): void {
    const pending = this.#pending;
    pending[this.#used] = line;
    pending[this.#used + 1] = recipient;
    pending[this.#used + 2] = message;
    this.#used += fields;
    this.length += 1;
    if (this.#used === pending.length) this.#flush();
  }

  /** Hands every row to `visit`, in order. */
  scan(visit: (row: number, line: number, recipient: number, message: number) => void): void {
    this.#flush();
    this.#file.flush();
    for (let row = 0; row < this.length; ) {
      const count = Math.min(spoolRows, this.length - row);
      const bytes = this.#file.read(row * fields * 4, count * fields * 4);
      const block = new Uint32Array(bytes.buffer, bytes.byteOffset, count * fields);
      for (let at = 0; at < block.length; at += fields, row += 1) {
        visit(row, block[at] ?? 0, block[at + 1] ?? 0, block[at + 2] ?? 0);
      }
    }
  }

  #flush(): void {
    this.#file.append(new Uint8Array(this.#pending.buffer, 0, this.#used * 4));
    this.#used = 0;
  }
}
