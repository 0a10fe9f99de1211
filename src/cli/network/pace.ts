import { type RequestKind, requestRates } from '../../contract/index.js';
import type { Clock } from '../world.js';
import type { Exchange } from './exchange.js';

/**
 * Keeps requests of one kind within the project's allowance: a bucket of tokens, corrected downwards by what
 * the service says is left, since other keys and processes share it.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #kind: RequestKind;
  #tokens: number;
  #at: number;
  #queue: Promise<void> = Promise.resolve();

  constructor(clock: Clock, kind: RequestKind) {
    this.#clock = clock;
    this.#kind = kind;
    this.#tokens = requestRates[kind].burst;
    this.#at = clock.now();
  }

  /** Resolves, in the order of the calls, when the next request may go. */
  turn(signal: AbortSignal): Promise<void> {
    const turn = this.#queue.then(async () => {
      this.#refill();
      if (this.#tokens < 1) {
        await this.#clock.sleep(((1 - this.#tokens) * 1_000) / requestRates[this.#kind].perSecond, signal);
        this.#refill();
      }
      this.#tokens -= 1;
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** What the service says of the allowance after an exchange. */
  learn({ kind, rate }: Exchange): void {
    if (kind !== this.#kind || rate === null) return;
    this.#refill();
    this.#tokens = Math.min(this.#tokens, rate.remaining);
  }

  #refill(): void {
    const { perSecond, burst } = requestRates[this.#kind];
    const now = this.#clock.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
  }
}
