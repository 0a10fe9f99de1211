/** Recipients that are prepared in one turn of the event loop. */
const mostPerTurn = 1_000;

/** Spreads the work of batches over turns of the event loop: single sends come in between. */
export class Turns {
  #recipients = 0;
  #last: Promise<void> | null = null;

  /** When a batch of so many recipients may be prepared, in the order of the calls; null for at once. */
  take(recipients: number): Promise<void> | null {
    this.#recipients += recipients;
    if (this.#recipients > mostPerTurn) {
      this.#recipients = recipients;
      const turn: Promise<void> = (this.#last ?? Promise.resolve()).then(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#last === turn) this.#last = null;
      });
      this.#last = turn;
    }
    return this.#last;
  }
}
