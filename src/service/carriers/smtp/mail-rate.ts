import { type PermitsParts, RoutePermits } from '../rate/permits.js';

/** Room for single mails at any rate: they go before those of batches, which are claimed by the second. */
const fewestMails = 10;

type Waiting = (isAllowed: boolean) => void;

/** The rate of a relay, over all instances. */
export class MailRate {
  readonly #permits: RoutePermits;
  readonly #waiting = { single: [] as Waiting[], batch: [] as Waiting[] };

  constructor(parts: PermitsParts) {
    this.#permits = new RoutePermits(parts, () => this.#serveWaiting());
  }

  /** Mails that may be claimed. */
  get capacity(): number {
    return Math.max(fewestMails, this.#permits.capacity);
  }

  /** Those of batches. */
  get ahead(): number {
    return this.#permits.inASecond(null);
  }

  /** Waits until a mail may start; false once it is stopped. */
  wait(isSingle: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting[isSingle ? 'single' : 'batch'].push(resolve);
      this.#serveWaiting();
    });
  }

  stop(): void {
    this.#permits.stop();
    const { single, batch } = this.#waiting;
    for (const resolve of [...single.splice(0), ...batch.splice(0)]) resolve(false);
  }

  #serveWaiting(): void {
    const { single, batch } = this.#waiting;
    while (single.length + batch.length > 0 && this.#permits.take(single.length + batch.length))
      (single.shift() ?? batch.shift())?.(true);
  }
}
