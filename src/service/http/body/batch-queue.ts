import { passTicks } from '../../event-loop.js';

/** Bytes up to which a body does not wait: a small batch. */
const smallBytes = 4_096;
/** Bytes of bodies that are processed in one tick of the event loop: about 1,000 recipients. */
const mostPerTick = 16_384;

/** Spreads the work of large batches over ticks of the event loop, so that other work runs in between. */
export class BatchQueue {
  #bytes = 0;
  #last: Promise<void> | null = null;

  /** When a body of that many bytes may be processed, in the order of the calls; null for at once. */
  wait(bytes: number): Promise<void> | null {
    if (bytes <= smallBytes) return null;
    this.#bytes += bytes;
    if (this.#bytes > mostPerTick) {
      this.#bytes = bytes;
      const ready: Promise<void> = (this.#last ?? Promise.resolve()).then(passTicks).then(() => {
        if (this.#last === ready) this.#last = null;
      });
      this.#last = ready;
    }
    return this.#last;
  }
}
