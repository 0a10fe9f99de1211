/** No digit: it makes every number that it is in too large. */
const noDigit = 0x10000;
/** The values of hexadecimal digits in lower case, by their codes. */
const digits = new Uint32Array(128).fill(noDigit);
for (let value = 0; value < 16; value += 1) digits[value.toString(16).charCodeAt(0)] = value;

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

  #setUuid(row: number, id: string): boolean {
    if (!hasDashes(id)) return false;
    const [a, b, c, d] = [fourDigits(id, 0), fourDigits(id, 4), fourDigits(id, 9), fourDigits(id, 14)];
    const [e, f, g, h] = [fourDigits(id, 19), fourDigits(id, 24), fourDigits(id, 28), fourDigits(id, 32)];
    const all = a | b | c | d | e | f | g | h;
    // A UUID of zeros would be read as none.
    if (all >= noDigit || all === 0) return false;
    const at = row * 4;
    this.#words[at] = (a << 16) | b;
    this.#words[at + 1] = (c << 16) | d;
    this.#words[at + 2] = (e << 16) | f;
    this.#words[at + 3] = (g << 16) | h;
    return true;
  }
}

const dash = 45;
const hasDashes = (id: string) =>
  id.length === 36 && [8, 13, 18, 23].every((at) => id.charCodeAt(at) === dash);

/** Without regular expressions, which would take most of the time of opening a job of a million single sends. */
const fourDigits = (id: string, at: number) =>
  (digitAt(id, at) << 12) | (digitAt(id, at + 1) << 8) | (digitAt(id, at + 2) << 4) | digitAt(id, at + 3);
const digitAt = (id: string, at: number) => digits[id.charCodeAt(at)] ?? noDigit;

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
