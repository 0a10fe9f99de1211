import { HashIndex, hashOf } from '../plan/hash-index.js';

/** Which chunk a batch id came back for; 64 bits of each id's hash decide, in about 16 bytes a batch. */
export class BatchIds {
  readonly #index = new HashIndex();
  readonly #others: Uint32Array;

  constructor(chunks: number) {
    this.#others = new Uint32Array(chunks);
  }

  /** The chunk that has this batch; null when none has. */
  chunkOf(id: string): number | null {
    const other = otherHashOf(id);
    const chunk = this.#index.find(hashOf(id), (each) => this.#others[each] === other);
    return chunk === -1 ? null : chunk;
  }

  add(id: string, chunk: number): void {
    if (this.chunkOf(id) !== null) return;
    this.#others[chunk] = otherHashOf(id);
    this.#index.add(hashOf(id), chunk);
  }
}

/** From another start, so that ids which meet in one hash do not meet in the other. */
const otherHashOf = (id: string) => hashOf(`batch ${id}`);
