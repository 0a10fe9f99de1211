import { passTurns } from '../../event-loop.js';

/** Bytes up to which a body does not wait for a turn: a small batch. */
const small = 4_096;
/** Bytes of bodies that are processed in one turn of the event loop: about 1,000 recipients. */
const mostPerTurn = 16_384;

/** Spreads the work of large batches over turns of the event loop, so that other work runs in between. */
export class BatchTurns {
  #bytes = 0;
  #last: Promise<void> | null = null;

  /** When a body of that many bytes may be processed, in the order of the calls; null for at once. */
  take(bytes: number): Promise<void> | null {
    if (bytes <= small) return null;
    this.#bytes += bytes;
    if (this.#bytes > mostPerTurn) {
      this.#bytes = bytes;
      const turn: Promise<void> = (this.#last ?? Promise.resolve()).then(passTurns).then(() => {
        if (this.#last === turn) this.#last = null;
      });
      this.#last = turn;
    }
    return this.#last;
  }
}
