/** Recipients that are prepared in one turn of the event loop. */
const mostPerTurn = 1_000;

/** Spreads the work of batches over turns of the event loop: single sends come in between. */
export class Turns {
  #recipients = 0;
  #last: Promise<void> = Promise.resolve();

  /** Resolves in the turn in which a batch of so many recipients may be prepared, in the order of the calls. */
  take(recipients: number): Promise<void> {
    this.#recipients += recipients;
    if (this.#recipients > mostPerTurn) {
      this.#recipients = recipients;
      this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    }
    return this.#last;
  }
}
