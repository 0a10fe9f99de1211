import { HashIndex, hashOf } from '../plan/files/hash-index.js';

/** Which request a batch id came back for; 64 bits of each id's hash decide, in about 16 bytes a batch. */
export class BatchIds {
  readonly #index = new HashIndex();
  readonly #others: Uint32Array;

  constructor(requests: number) {
    this.#others = new Uint32Array(requests);
  }

  /** The request that has this batch; null when none has. */
  requestOf(id: string): number | null {
    const other = otherHashOf(id);
    const request = this.#index.find(hashOf(id), (each) => this.#others[each] === other);
    return request === -1 ? null : request;
  }

  add(id: string, request: number): void {
    if (this.requestOf(id) !== null) return;
    this.#others[request] = otherHashOf(id);
    this.#index.add(hashOf(id), request);
  }
}

/** From another start, so that ids which meet in one hash do not meet in the other. */
const otherHashOf = (id: string) => hashOf(`batch ${id}`);
