import { HashIndex, hashOf } from '../../../../../src/cli/bulk/plan/files/hash-index.js';

/** Requests by the batch ids that answered them, compared by 64-bit hashes; about 16 bytes a batch. */
export class BatchIds {
  readonly #index = new HashIndex();
  readonly #others: Uint32Array;

  constructor(requests: number) {
    this.#others = new Uint32Array(requests);
  }

  /** The request with this batch; null if there is none. */
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

/** With a different start, so ids with equal hashes there have different ones here. */
const otherHashOf = (id: string) => hashOf(`batch ${id}`);
