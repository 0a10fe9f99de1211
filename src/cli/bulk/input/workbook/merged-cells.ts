import { grouped } from '../../../text/wording.js';
import { columnOf } from '../../../xlsx/cell-reference.js';
import { marksIn } from '../file-kind.js';
import { damaged, WorkbookError } from './workbook-error.js';
import { type Attribute, readXml, type XmlHandler } from './xml.js';

/** The size of a sheet in Excel. */
export const mostRows = 1_048_576;
export const mostColumns = 16_384;
/** Each takes up to 40 bytes of memory. */
const mostRanges = 1_000_000;
const numbersOfBlock = 4;
const range = /^\$?([A-Z]{0,3})\$?(\d{0,7}):\$?([A-Z]{0,3})\$?(\d{0,7})$/i;

/** The cells of a sheet that its merged cells hide: all of a range but the first. */
export class MergedCells implements XmlHandler {
  readonly #part: string;
  #ranges = 0;
  /** Hidden blocks of cells: top, left, right and bottom of each. A range has up to two. */
  #blocks = new Int32Array(numbersOfBlock * 64);
  #length = 0;
  /** The blocks by their top, and how many of them begin at or above the last row that was asked for. */
  #order: Uint32Array | null = null;
  #begun = 0;
  /** The last hidden row of each column, of the blocks that have begun. */
  readonly #until = new Int32Array(mostColumns);

  constructor(part: string) {
    this.#part = part;
  }

  open(name: string, attribute: Attribute, parent: string): void {
    if (name !== 'mergeCell' || parent !== 'mergeCells') return;
    const written = attribute('ref') ?? '';
    if (!written.includes(':')) return;
    if (this.#ranges === mostRanges)
      throw new WorkbookError(`has over ${grouped(mostRanges)} merged ranges`, 'Unmerge its cells.');
    this.#ranges += 1;
    const [top, left, bottom, right] = this.#cornersOf(written);
    if (right > left) this.#add(top, left + 1, right, bottom);
    if (bottom > top) this.#add(top + 1, left, left, bottom);
  }

  /** Whether a cell is hidden; rows must be asked for in ascending order. */
  hides(row: number, column: number): boolean {
    if (this.#length === 0) return false;
    this.#order ??= this.#sorted();
    while (this.#begun < this.#order.length && this.#at(this.#begun, 0) <= row) this.#begin(this.#begun++);
    return (this.#until[column] ?? 0) >= row;
  }

  #begin(index: number): void {
    const bottom = this.#at(index, 3);
    for (let column = this.#at(index, 1); column <= this.#at(index, 2); column += 1)
      this.#until[column] = Math.max(this.#until[column] ?? 0, bottom);
  }

  /** A number of the block at a place in the order. */
  #at(index: number, number: number): number {
    return this.#blocks[(this.#order?.[index] ?? 0) * numbersOfBlock + number] ?? 0;
  }

  #sorted(): Uint32Array {
    const topOf = (block: number) => this.#blocks[block * numbersOfBlock] ?? 0;
    return Uint32Array.from({ length: this.#length }, (_, block) => block).sort(
      (one, other) => topOf(one) - topOf(other),
    );
  }

  #add(...block: [top: number, left: number, right: number, bottom: number]): void {
    const at = this.#length * numbersOfBlock;
    if (at === this.#blocks.length) {
      const wider = new Int32Array(at * 2);
      wider.set(this.#blocks);
      this.#blocks = wider;
    }
    this.#blocks.set(block, at);
    this.#length += 1;
  }

  /** Whole columns and rows may be without their other half: `A:B`, `2:3`. */
  #cornersOf(written: string): [top: number, left: number, bottom: number, right: number] {
    const [, left = '', top = '', right = '', bottom = ''] = range.exec(written) ?? [];
    if (left + top === '' || right + bottom === '') throw damaged(`${this.#part} merges cells ${written}`);
    const rows = [Number(top || 1), Number(bottom || mostRows)];
    const columns = [columnIn(left || 'A'), right === '' ? mostColumns - 1 : columnIn(right)];
    return [
      Math.min(...rows),
      Math.min(...columns),
      Math.min(Math.max(...rows), mostRows),
      Math.min(Math.max(...columns), mostColumns - 1),
    ];
  }
}

const columnIn = (letters: string) => columnOf(letters.toUpperCase());

const marks = [Buffer.from('mergeCell'), Buffer.from('mergeCell', 'utf16le')];

/**
 * Reads the merged cells of a sheet. They come behind its rows, which they concern: the sheet is read twice, but only
 * if it mentions any.
 */
export async function readMergedCells(part: string, read: () => AsyncIterable<Buffer>): Promise<MergedCells> {
  const merged = new MergedCells(part);
  if ((await marksIn(read(), marks)).size > 0) await readXml(part, read(), merged);
  return merged;
}
