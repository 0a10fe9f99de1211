import type { Clock } from '../../clock.js';
import { takeToken } from '../../storage/rate-limiter.js';
import { factorAt, type Lowered, lower } from '../../storage/route-limits.js';

/** Seconds of a rate that may go out at once. */
const burstSeconds = 0.25;

/** A part of a rate: halved while it is throttled, it grows back. */
export class Share {
  readonly #clock: Clock;
  #lowered: Lowered | null = null;
  /** Of its token bucket. */
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

  /** Halves it, once in the time that an answer takes. */
  lower(perSecond: number, answeredMs: number): void {
    this.#lowered = lower(this.#lowered, perSecond, answeredMs, this.#clock.monotonic());
  }

  /** Takes a message of a rate, where there is one. */
  take(perSecond: number): void {
    const { allowed, fullAt } = this.#token(perSecond);
    if (allowed) this.#fullAt = fullAt;
  }

  /** Messages that could be taken now, and the milliseconds until there is one. */
  left(perSecond: number): { messages: number; wait: number } {
    const { allowed, remaining, wait } = this.#token(perSecond);
    return { messages: allowed ? remaining + 1 : 0, wait };
  }

  #token(perSecond: number) {
    const bucket = { interval: 1_000 / perSecond, burst: Math.max(1, Math.ceil(perSecond * burstSeconds)) };
    return takeToken(this.#fullAt, bucket, this.#clock.monotonic());
  }
}
