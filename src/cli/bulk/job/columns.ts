/** Values of 0 to 15 by the code of their hexadecimal digit in lower case. */
const digits = new Uint8Array(128).fill(16);
for (let value = 0; value < 16; value += 1) digits[value.toString(16).charCodeAt(0)] = value;

const uuidLength = 36;
const isDash = (at: number) => at === 8 || at === 13 || at === 18 || at === 23;

/** An id for each of so many rows: 16 bytes for a UUID, as the service makes them; others are kept as text. */
export class IdColumn {
  readonly #words: Uint32Array;
  readonly #others = new Map<number, string>();

  constructor(rows: number) {
    this.#words = new Uint32Array(rows * 4);
  }

  /** '' for none. */
  set(row: number, id: string): void {
    const isUuid = this.#setUuid(row, id);
    if (!isUuid) this.#words.fill(0, row * 4, row * 4 + 4);
    if (!isUuid && id !== '') this.#others.set(row, id);
    else if (this.#others.size > 0) this.#others.delete(row);
  }

  get(row: number): string {
    const words = this.#words.subarray(row * 4, row * 4 + 4);
    if (words.every((word) => word === 0)) return this.#others.get(row) ?? '';
    const hex = Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** Without a regular expression, which would take most of the time of opening a job of a million single sends. */
  #setUuid(row: number, id: string): boolean {
    if (id.length !== uuidLength) return false;
    let word = 0;
    let all = 0;
    let place = row * 4;
    for (let at = 0, read = 0; at < uuidLength; at += 1) {
      const code = id.charCodeAt(at);
      if (isDash(at)) {
        if (code !== 45) return false;
        continue;
      }
      const digit = digits[code] ?? 16;
      if (digit === 16) return false;
      word = (word << 4) | digit;
      read += 1;
      if (read % 8 > 0) continue;
      this.#words[place] = word;
      place += 1;
      all |= word;
    }
    return all !== 0;
  }
}

const mostWords = 2 ** 16;

/** One of a few words for each of so many rows, in 2 bytes. */
export class WordColumn {
  readonly #numbers: Uint16Array;
  readonly #words = [''];
  readonly #known = new Map([['', 0]]);

  constructor(rows: number) {
    this.#numbers = new Uint16Array(rows);
  }

  /** If a service invents a new word for each row, those beyond the limit are ''. */
  set(row: number, word: string): void {
    this.#numbers[row] = word === '' ? 0 : this.#numberOf(word);
  }

  get(row: number): string {
    return this.#words[this.#numbers[row] ?? 0] ?? '';
  }

  #numberOf(word: string): number {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    if (this.#words.length === mostWords) return 0;
    this.#known.set(word, this.#words.length);
    return this.#words.push(word) - 1;
  }
}
