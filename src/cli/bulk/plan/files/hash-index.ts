/**
 * Ids by the 32-bit hash of their values: open addressing in one typed array, 8 bytes a slot. Hashes collide, so
 * the caller compares the values.
 */
export class HashIndex {
  #slots = new Uint32Array(1_024 * 2);
  #mask = 1_023;
  #used = 0;

  /** The id with this hash that satisfies `same`, or -1. */
  find(hash: number, same: (id: number) => boolean): number {
    const slots = this.#slots;
    for (let at = hash & this.#mask; ; at = (at + 1) & this.#mask) {
      const id = (slots[at * 2 + 1] ?? 0) - 1;
      if (id === -1) return -1;
      if (slots[at * 2] === hash && same(id)) return id;
    }
  }

  /** Adds an id, up to 2^32 - 2, that `find` has not found. */
  add(hash: number, id: number): void {
    if (this.#used * 3 > this.#mask * 2) this.#grow();
    this.#put(hash, id + 1);
    this.#used += 1;
  }

  /** The id of a hash that only one value has, or -1: see `hashOfNumber`. */
  get(hash: number): number {
    return (this.#slots[this.#slotOf(hash) * 2 + 1] ?? 0) - 1;
  }

  /** Replaces the id of such a hash. */
  set(hash: number, id: number): void {
    this.#slots[this.#slotOf(hash) * 2 + 1] = id + 1;
  }

  /** The slot of the hash, or an empty one. */
  #slotOf(hash: number): number {
    const slots = this.#slots;
    let at = hash & this.#mask;
    while (slots[at * 2] !== hash && slots[at * 2 + 1] !== 0) at = (at + 1) & this.#mask;
    return at;
  }

  #put(hash: number, entry: number): void {
    let at = hash & this.#mask;
    while (this.#slots[at * 2 + 1] !== 0) at = (at + 1) & this.#mask;
    this.#slots[at * 2] = hash;
    this.#slots[at * 2 + 1] = entry;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    this.#mask = old.length - 1;
    for (let at = 0; at < old.length; at += 2) {
      const entry = old[at + 1] ?? 0;
      if (entry !== 0) this.#put(old[at] ?? 0, entry);
    }
  }
}

const fnvSeed = 0x811c9dc5;

/**
 * 32 bits over the UTF-16 code units of a part of a text (FNV-1a with a final mix); a different seed makes an
 * independent hash.
 */
export function hashOf(text: string, seed = fnvSeed, from = 0, end = text.length): number {
  let hash = seed | 0;
  for (let at = from; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hashOfNumber(hash);
}

/** The same for a recipient in any letter case (ASCII); a number has none. */
export function hashOfRecipient(text: string, seed = fnvSeed, from = 0, end = text.length): number {
  let hash = seed | 0;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    hash = Math.imul(hash ^ (code >= 0x41 && code <= 0x5a ? code + 0x20 : code), 0x01000193);
  }
  return hashOfNumber(hash);
}

/** Different for each number of 32 bits, so `find` needs no comparison. */
export function hashOfNumber(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;

/** A larger copy, with zeros at its end. */
export function grown<Kind extends Numbers>(from: Kind, size: number): Kind {
  const to = new (from.constructor as new (size: number) => Kind)(size);
  to.set(from);
  return to;
}
