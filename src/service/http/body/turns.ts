/** Bytes of a body that waits for no turn: that of a small batch. */
const small = 4_096;
/** Bytes of bodies that are answered in one turn of the event loop: those of about 1,000 recipients. */
const mostPerTurn = 16_384;
/** Turns of the event loop from one to the next. Node.js accepts one connection in each. */
const between = 8;

/** Spreads the work of large batches over turns of the event loop: others come in between. */
export class Turns {
  #bytes = 0;
  #last: Promise<void> | null = null;

  /** When a body of so many bytes may be answered, in the order of the calls; null for at once. */
  take(bytes: number): Promise<void> | null {
    if (bytes <= small) return null;
    this.#bytes += bytes;
    if (this.#bytes > mostPerTurn) {
      this.#bytes = bytes;
      const turn: Promise<void> = (this.#last ?? Promise.resolve()).then(async () => {
        for (let turns = 0; turns < between; turns += 1)
          await new Promise((resolve) => setImmediate(resolve));
        if (this.#last === turn) this.#last = null;
      });
      this.#last = turn;
    }
    return this.#last;
  }
}
