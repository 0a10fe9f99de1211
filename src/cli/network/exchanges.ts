import { type Exchange, isAccepted, isInDoubt } from './exchange.js';

/** The HTTP exchanges of this process: what is under way, in doubt, or accepted and not shown yet. */
export class Exchanges {
  readonly #underWay = new Set<Exchange>();
  /** Without a known outcome, by idempotency key. */
  readonly #doubtful = new Map<string | null, Exchange>();
  readonly #listeners = new Set<(exchange: Exchange) => void>();
  /** The newest that has ended. */
  last: Exchange | null = null;

  /**
   * A posted request whose outcome nobody knows: under way, in doubt and perhaps about to be tried again, or, of a
   * client that makes one, answered and not shown yet.
   */
  get pendingSend(): Exchange | null {
    const underWay = [...this.#underWay].find(({ kind }) => kind === 'sending');
    return underWay ?? [...this.#doubtful.values()].at(-1) ?? null;
  }

  /** `single`: of a client that makes one send at a time. */
  began(exchange: Exchange, single: boolean): void {
    this.#underWay.add(exchange);
    // The client takes a new key only after an answer has ended the old one.
    if (single && exchange.kind === 'sending' && !this.#doubtful.has(exchange.idempotencyKey))
      this.#doubtful.clear();
  }

  ended(exchange: Exchange, single: boolean): void {
    this.#underWay.delete(exchange);
    this.last = exchange;
    if (exchange.kind === 'sending') {
      const { idempotencyKey: key } = exchange;
      const isDoubtful = isAccepted(exchange) ? single : isInDoubt(exchange, this.#doubtful.has(key));
      if (isDoubtful) this.#doubtful.set(key, exchange);
      else this.#doubtful.delete(key);
    }
    for (const listener of this.#listeners) listener(exchange);
  }

  /** The person has seen the answer to the send. */
  shown(): void {
    for (const [key, exchange] of this.#doubtful) if (isAccepted(exchange)) this.#doubtful.delete(key);
  }

  /** Calls `listener` after every exchange; the returned function ends that. */
  onEnded(listener: (exchange: Exchange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
