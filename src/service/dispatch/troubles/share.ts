import type { Clock } from '../../clock.js';
import { takeToken } from '../../storage/rate-limiter.js';
import { factorAt, type Lowered, lower } from '../../storage/route-limits.js';

/** The burst, in seconds of the rate. */
const burstSeconds = 0.25;

/** A share of a rate: halved when throttled, it grows back. */
export class Share {
  readonly #clock: Clock;
  #lowered: Lowered | null = null;
  /** When its token bucket is full. */
  #fullAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** 1 for the whole. */
  get factor(): number {
    if (this.#lowered === null) return 1;
    const factor = factorAt(this.#lowered, this.#clock.monotonic());
    if (factor === 1) this.#lowered = null;
    return factor;
  }

  /** Halves it, at most once in the time that an answer takes. */
  lower(perSecond: number, answeredMs: number): void {
    this.#lowered = lower(this.#lowered, perSecond, answeredMs, this.#clock.monotonic());
  }

  /** Takes a message from the rate, if there is one. */
  take(perSecond: number): void {
    const { allowed, fullAt } = this.#token(perSecond);
    if (allowed) this.#fullAt = fullAt;
  }

  /** Messages that can be sent now, and the milliseconds until the next one. */
  left(perSecond: number): { messages: number; wait: number } {
    const { allowed, remaining, wait } = this.#token(perSecond);
    return { messages: allowed ? remaining + 1 : 0, wait };
  }

  #token(perSecond: number) {
    const bucket = { interval: 1_000 / perSecond, burst: Math.max(1, Math.ceil(perSecond * burstSeconds)) };
    return takeToken(this.#fullAt, bucket, this.#clock.monotonic());
  }
}
