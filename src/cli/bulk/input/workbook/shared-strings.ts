import { grouped } from '../../../text/wording.js';
import type { ByteStore } from './archive.js';
import { unescapeText } from './cell-value.js';
import { damaged, WorkbookError } from './workbook-error.js';
import type { XmlHandler } from './xml.js';
import { readXml } from './xml.js';

/** Texts beyond this are stored in a file: a sheet may have more than fit in memory. */
const memoryBytes = 48_000_000;
const pageBytes = 1_000_000;
const mostBytes = 2 ** 32 - 1;
/** A cell in Excel holds up to 32,767 characters. */
export const longestText = 1_000_000;

/** The texts of a workbook; its cells refer to them by number. */
export class SharedStrings {
  readonly #spillStore: () => ByteStore;
  readonly #pages: Buffer[] = [];
  #spill: ByteStore | null = null;
  /** Position for the next text: in the pages, one after another, then in the spill. */
  #end = 0;
  /** Position and length of each text. */
  #places = new Uint32Array(2_048);
  #count = 0;

  constructor(spillStore: () => ByteStore) {
    this.#spillStore = spillStore;
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#end + bytes.length > mostBytes) {
      throw new WorkbookError('has over 4 GB of text', 'Split it into several files.');
    }
    this.#makeRoom(bytes.length);
    if (this.#spill === null) this.#pages.at(-1)?.set(bytes, this.#end % pageBytes);
    else this.#spill.append(bytes);
    this.#note(this.#end, bytes.length);
    this.#end += bytes.length;
  }

  /** Undefined if there is no such text. */
  get(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const begin = this.#places[index * 2] ?? 0;
    const length = this.#places[index * 2 + 1] ?? 0;
    const page = this.#pages[Math.floor(begin / pageBytes)];
    if (page !== undefined) return page.toString('utf8', begin % pageBytes, (begin % pageBytes) + length);
    return this.#spill?.read(begin - this.#pages.length * pageBytes, length).toString() ?? '';
  }

  /** A text never spans two pages; the rest of a page may stay empty. */
  #makeRoom(length: number): void {
    if (this.#spill !== null || this.#end + length < this.#pages.length * pageBytes) return;
    this.#end = this.#pages.length * pageBytes;
    if (length < pageBytes && this.#end < memoryBytes) this.#pages.push(Buffer.allocUnsafeSlow(pageBytes));
    else this.#spill = this.#spillStore();
  }

  #note(begin: number, length: number): void {
    if (this.#count * 2 === this.#places.length) {
      const wider = new Uint32Array(this.#places.length * 2);
      wider.set(this.#places);
      this.#places = wider;
    }
    this.#places[this.#count * 2] = begin;
    this.#places[this.#count * 2 + 1] = length;
    this.#count += 1;
  }
}

/** Reads the texts of a part into `strings`; joins formatted runs, and leaves out phonetic guides. */
export function readSharedStrings(
  part: string,
  blocks: AsyncIterable<Buffer>,
  strings: SharedStrings,
): Promise<void> {
  let text = '';
  let inText = false;
  const handler: XmlHandler = {
    open(name, _, parent) {
      if (name === 'si' && parent === 'sst') text = '';
      // Not of a phonetic guide, `rPh`.
      else if (name === 't') inText = parent === 'si' || parent === 'r';
    },
    text(value) {
      if (!inText) return;
      text += value;
      if (text.length > longestText)
        throw damaged(`${part} has a text of over ${grouped(longestText)} characters`);
    },
    close(name, parent) {
      if (name === 't') inText = false;
      else if (name === 'si' && parent === 'sst') strings.add(unescapeText(text));
    },
  };
  return readXml(part, blocks, handler);
}
