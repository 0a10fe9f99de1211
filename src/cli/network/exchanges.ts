import { type Exchange, isAccepted } from './exchange.js';

/** Every POST but a question. */
const maySend = ({ kind, url }: Exchange): boolean =>
  kind === 'sending' && !url.endsWith('/suppressions/check');

/** The HTTP exchanges of this process: those in flight, in doubt, or accepted but not shown yet. */
export class Exchanges {
  readonly #underWay = new Set<Exchange>();
  /** Those without a known outcome, by idempotency key. */
  readonly #doubtful = new Map<string | null, Exchange>();
  readonly #listeners = new Set<(exchange: Exchange) => void>();
  /** The last one that finished. */
  last: Exchange | null = null;

  /**
   * A POST with an unknown outcome: in flight, in doubt and perhaps about to be retried, or, from a client with one
   * send at a time, answered but not shown yet.
   */
  get pendingSend(): Exchange | null {
    const underWay = [...this.#underWay].find(maySend);
    return underWay ?? [...this.#doubtful.values()].at(-1) ?? null;
  }

  /** `single`: of a client that makes one send at a time. */
  began(exchange: Exchange, single: boolean): void {
    this.#underWay.add(exchange);
    // The client uses a new key only after an answer to the old one.
    if (single && maySend(exchange) && !this.#doubtful.has(exchange.idempotencyKey)) this.#doubtful.clear();
  }

  ended(exchange: Exchange, single: boolean): void {
    this.#underWay.delete(exchange);
    this.last = exchange;
    if (maySend(exchange)) {
      const { idempotencyKey: key } = exchange;
      const isDoubtful = isAccepted(exchange) ? single : exchange.isInDoubt(this.#doubtful.has(key));
      if (isDoubtful) this.#doubtful.set(key, exchange);
      else this.#doubtful.delete(key);
    }
    for (const listener of this.#listeners) listener(exchange);
  }

  /** Called when the answer to the send was shown. */
  shown(): void {
    for (const [key, exchange] of this.#doubtful) if (isAccepted(exchange)) this.#doubtful.delete(key);
  }

  /** Calls `listener` after every exchange; the returned function stops this. */
  onEnded(listener: (exchange: Exchange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
