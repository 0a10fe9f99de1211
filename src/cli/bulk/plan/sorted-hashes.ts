const pageWords = 65_536;

/** A list of 64-bit hashes as two words each. It grows by pages, which leaves no copies to be collected. */
export class HashList {
  length = 0;
  readonly #pages: Uint32Array[] = [];

  push(high: number, low: number): void {
    const at = (this.length * 2) % pageWords;
    if (at === 0) this.#pages.push(new Uint32Array(pageWords));
    const page = this.#pages[this.#pages.length - 1] as Uint32Array;
    page[at] = high;
    page[at + 1] = low;
    this.length += 1;
  }

  high(index: number): number {
    return this.#word(index * 2);
  }

  low(index: number): number {
    return this.#word(index * 2 + 1);
  }

  #word(at: number): number {
    return this.#pages[Math.floor(at / pageWords)]?.[at % pageWords] ?? 0;
  }
}

const prefixes = 65_536;
/** Which of the two words of a 64-bit number is the high one. */
const highWord = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** A set of 64-bit hashes in ascending order: 8 bytes each, found by their first 16 bits and then by halving. */
export class SortedHashes {
  readonly length: number;
  readonly #words: Uint32Array;
  /** By the first 16 bits, the place of the first hash. */
  readonly #starts = new Uint32Array(prefixes + 1);

  constructor(list: HashList) {
    const numbers = new BigUint64Array(list.length);
    const words = new Uint32Array(numbers.buffer);
    for (let index = 0; index < list.length; index += 1) {
      words[index * 2 + highWord] = list.high(index);
      words[index * 2 + 1 - highWord] = list.low(index);
    }
    numbers.sort();
    this.#words = words;
    let length = 0;
    for (let index = 0; index < list.length; index += 1) {
      const high = words[index * 2 + highWord] ?? 0;
      const low = words[index * 2 + 1 - highWord] ?? 0;
      if (length > 0 && this.#compare(length - 1, high, low) === 0) continue;
      words[length * 2 + highWord] = high;
      words[length * 2 + 1 - highWord] = low;
      length += 1;
      this.#starts[(high >>> 16) + 1] = length;
    }
    this.length = length;
    for (let prefix = 1; prefix <= prefixes; prefix += 1)
      this.#starts[prefix] = Math.max(this.#starts[prefix] ?? 0, this.#starts[prefix - 1] ?? 0);
  }

  /** The place of a hash; -1 for none. */
  find(high: number, low: number): number {
    let from = this.#starts[high >>> 16] ?? 0;
    let end = this.#starts[(high >>> 16) + 1] ?? 0;
    while (from < end) {
      const middle = (from + end) >>> 1;
      const order = this.#compare(middle, high, low);
      if (order === 0) return middle;
      if (order < 0) from = middle + 1;
      else end = middle;
    }
    return -1;
  }

  /** Below 0 if the hash at a place is lower than the other one. */
  #compare(place: number, high: number, low: number): number {
    return (
      (this.#words[place * 2 + highWord] ?? 0) - high || (this.#words[place * 2 + 1 - highWord] ?? 0) - low
    );
  }
}
