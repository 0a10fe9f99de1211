import { type RequestKind, requestRates } from '../../contract/index.js';
import { type Allowance, type Bucket, type BucketStore, refill, unknownBucket, waitFor } from './bucket.js';

export interface PaceOptions {
  buckets: BucketStore;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Sending requests a second; the documented allowance when absent. */
  perSecond?: number;
}

/** Tokens that are never used, so that requests which overtake each other on the way are not one too many. */
const reserve = { sending: 3, reading: 1 } as const;

/**
 * Spends the request allowance of a project, and no more. The bucket is shared by the processes of this
 * machine; `X-RateLimit-Remaining` corrects it for what others spend elsewhere.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #allowances: Record<RequestKind, Allowance>;
  readonly #inFlight = { sending: 0, reading: 0 };
  readonly #queue: Record<RequestKind, Promise<unknown>> = {
    sending: Promise.resolve(),
    reading: Promise.resolve(),
  };

  constructor(options: PaceOptions) {
    this.#options = options;
    const scale = (options.perSecond ?? requestRates.sending.perSecond) / requestRates.sending.perSecond;
    const allowanceOf = (kind: RequestKind): Allowance => ({
      perSecond: requestRates[kind].perSecond * scale,
      burst: Math.max(1, (requestRates[kind].burst - reserve[kind]) * scale),
    });
    this.#allowances = { sending: allowanceOf('sending'), reading: allowanceOf('reading') };
  }

  /** Waits for a token and takes it; false when the signal came first. Who asks first is served first. */
  take(kind: RequestKind, signal?: AbortSignal): Promise<boolean> {
    const turn = this.#queue[kind].then(() => this.#takeNext(kind, signal));
    this.#queue[kind] = turn;
    return turn;
  }

  async #takeNext(kind: RequestKind, signal: AbortSignal | undefined): Promise<boolean> {
    const { buckets, now, sleep } = this.#options;
    const allowance = this.#allowances[kind];
    while (!signal?.aborted) {
      const wait = buckets.update(kind, (kept) => {
        const bucket = refill(kept ?? unknownBucket(now()), allowance, now());
        const result = waitFor(bucket, allowance, now());
        return { bucket: result > 0 ? bucket : { ...bucket, tokens: bucket.tokens - 1 }, result };
      });
      if (wait === 0) {
        this.#inFlight[kind] += 1;
        return true;
      }
      await sleep(wait, signal);
    }
    return false;
  }

  /** The service wants quiet for so many milliseconds. */
  block(kind: RequestKind, milliseconds: number): void {
    this.#change(kind, (bucket, now) => ({
      ...bucket,
      tokens: Math.min(bucket.tokens, 1),
      blockedUntil: Math.max(bucket.blockedUntil, now + milliseconds),
    }));
  }

  /**
   * A request has ended; `remaining` is what its answer said is left of the allowance. Others spend from it
   * too, so the service may have fewer tokens than this bucket: requests still under way are counted as not
   * yet taken off. More tokens are believed only of a bucket that nobody has kept; otherwise two processes
   * would both believe them.
   */
  ended(kind: RequestKind, remaining: number | null): void {
    this.#inFlight[kind] = Math.max(0, this.#inFlight[kind] - 1);
    if (remaining === null) return;
    const left = remaining - this.#inFlight[kind] - reserve[kind];
    this.#change(kind, (bucket) => ({
      ...bucket,
      known: true,
      tokens: bucket.known ? Math.min(bucket.tokens, left) : Math.min(this.#allowances[kind].burst, left),
    }));
  }

  #change(kind: RequestKind, change: (bucket: Bucket, now: number) => Bucket): void {
    const now = this.#options.now();
    this.#options.buckets.update(kind, (kept) => ({
      bucket: change(refill(kept ?? unknownBucket(now), this.#allowances[kind], now), now),
      result: undefined,
    }));
  }
}
