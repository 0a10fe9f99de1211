/** A page has 2^16 words. */
const pageBits = 16;
const inPage = 2 ** pageBits - 1;

/**
 * Different 64-bit hashes, as two words each, numbered as they are added: 8 bytes each in pages, which leave no copies
 * to be collected, and 6 to 12 in an open-addressing table of their numbers.
 */
export class NumberedHashes {
  length = 0;
  readonly #pages: Uint32Array[] = [];
  /**
   * The place of a hash begins with the low bits of its high word. There are its number and one more, and the other
   * bits of the word, which spare most looks at other hashes; 0 for none.
   */
  #slots = new Uint32Array(1_024);

  /** The number of a hash; -1 for none. */
  find(high: number, low: number): number {
    return this.#numberIn(this.#slotOf(high, low));
  }

  /** Returns the number of the hash, which may have been added before. */
  add(high: number, low: number): number {
    const slot = this.#slotOf(high, low);
    const known = this.#numberIn(slot);
    if (known !== -1) return known;
    const number = this.length;
    const at = (number * 2) & inPage;
    if (at === 0) this.#pages.push(new Uint32Array(inPage + 1));
    const page = this.#pages[this.#pages.length - 1] as Uint32Array;
    page[at] = high;
    page[at + 1] = low;
    this.#put(slot, high, number);
    this.length += 1;
    if (this.length * 3 > this.#slots.length * 2) this.#grow();
    return number;
  }

  #numberIn(slot: number): number {
    return ((this.#slots[slot] ?? 0) & (this.#slots.length - 1)) - 1;
  }

  #put(slot: number, high: number, number: number): void {
    this.#slots[slot] = (high & -this.#slots.length) | (number + 1);
  }

  /** The slot of the hash, or an empty one. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = high & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] ?? 0;
      if (entry === 0) return slot;
      const at = ((entry & mask) - 1) * 2;
      if (((entry ^ high) & ~mask) === 0 && this.#word(at) === high && this.#word(at + 1) === low)
        return slot;
    }
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 0; number < this.length; number += 1) {
      const high = this.#word(number * 2);
      this.#put(this.#slotOf(high, this.#word(number * 2 + 1)), high, number);
    }
  }

  #word(at: number): number {
    return this.#pages[at >>> pageBits]?.[at & inPage] ?? 0;
  }
}
