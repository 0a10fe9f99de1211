import { type RequestKind, requestRates } from '../../contract/index.js';
import type { Clock } from '../clock.js';
import { type BucketStore, memoryBuckets } from './bucket-store.js';
import {
  type Allowance,
  longestBlock,
  type Moment,
  refill,
  type TokenBucket,
  unknownBucket,
  waitFor,
} from './token-bucket.js';

export interface RateLimiterOptions {
  buckets: BucketStore;
  clock: Clock;
  /** Called once for each wait that is over a second; `milliseconds` is what it may still take. */
  onWait?(kind: RequestKind, milliseconds: number): void;
}

/** Tokens that are never used, so that requests which overtake each other on the way are not one too many. */
const reserve = { sending: 3, reading: 1 } as const;
/** Another process may have learnt meanwhile that there is no need to wait. */
const longestNap = 1_000;
const shownAfter = 1_000;

interface Waiter {
  settle(taken: boolean): void;
  signal: AbortSignal | undefined;
  within: number;
  asked: number;
}

interface Lane {
  waiters: Waiter[];
  pumping: boolean;
  /** Ends the present nap. */
  wake(): void;
  /** When a token was last taken, or begun to be waited for. */
  since: number;
  shown: boolean;
  /** Requests that took a token and have no answer yet. */
  inFlight: number;
  /** Requests under way that did not wait for their token. */
  ahead: number;
}

const newLane = (): Lane => ({
  waiters: [],
  pumping: false,
  wake() {},
  since: 0,
  shown: false,
  inFlight: 0,
  ahead: 0,
});

/**
 * Spends the request allowance of a project, and no more. The token buckets are shared by the processes of this
 * machine; `X-RateLimit-Remaining` corrects them for what others spend elsewhere.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #lanes: Record<RequestKind, Lane> = { sending: newLane(), reading: newLane() };
  /** Of a command that is to use less than the allowance, its own. */
  readonly #slower = memoryBuckets();
  #scale = 1;
  #closed = false;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** From now on so many sending requests a second, and reading ones in proportion. */
  limitTo(perSecond: number): void {
    this.#scale = perSecond / requestRates.sending.perSecond;
  }

  /**
   * Waits for a token and takes it; who asks first is served first. False when the signal came first, or when
   * nobody here got a token for `within` milliseconds.
   */
  take(kind: RequestKind, signal?: AbortSignal, within = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (signal?.aborted || this.#closed) return Promise.resolve(false);
    const lane = this.#lanes[kind];
    return new Promise((resolve) => {
      const onAbort = () => waiter.settle(false);
      const waiter: Waiter = {
        settle: (taken) => {
          lane.waiters = lane.waiters.filter((other) => other !== waiter);
          signal?.removeEventListener('abort', onAbort);
          if (lane.waiters.length === 0) lane.wake();
          resolve(taken);
        },
        signal,
        within,
        asked: this.#options.clock.elapsed(),
      };
      signal?.addEventListener('abort', onAbort);
      lane.waiters.push(waiter);
      if (!lane.pumping) void this.#pump(kind, lane);
    });
  }

  /** A request that goes without waiting for its token; it is counted all the same. */
  goAhead(kind: RequestKind): void {
    const lane = this.#lanes[kind];
    lane.inFlight += 1;
    lane.ahead += 1;
    void this.#change(kind, (bucket) => ({ ...bucket, tokens: bucket.tokens - 1 }));
  }

  /** The service wants quiet for so many milliseconds. */
  block(kind: RequestKind, milliseconds: number): void {
    void this.#change(kind, (bucket) => ({
      ...bucket,
      tokens: Math.min(bucket.tokens, 1),
      blocked: Math.max(bucket.blocked, Math.min(milliseconds, longestBlock)),
    }));
  }

  /**
   * A request has ended; `remaining` is what its answer said is left of the allowance. Others spend from it
   * too, so the service may have fewer tokens than this bucket: requests still under way are counted as not
   * yet taken off. More tokens are believed only of a bucket that nobody has kept; otherwise two processes
   * would both believe them. A service that does not tell has the documented allowance.
   */
  ended(kind: RequestKind, status: number | null, remaining: number | null): void {
    const lane = this.#lanes[kind];
    lane.inFlight = Math.max(0, lane.inFlight - 1);
    const wentAhead = lane.ahead > 0;
    lane.ahead = Math.max(0, lane.ahead - 1);
    if (status === null || (status === 429 && remaining === null)) return;
    const { burst } = this.#allowance(kind);
    const left = remaining === null ? null : remaining - lane.inFlight - reserve[kind];
    const unblocked = wentAhead && status !== 429;
    void this.#change(kind, (bucket) => ({
      ...bucket,
      known: true,
      tokens: bucket.known
        ? Math.min(bucket.tokens, left ?? bucket.tokens)
        : Math.min(burst, left ?? burst - lane.inFlight - 1),
      // Somebody tried although there was a block, and was answered: there is none any more.
      blocked: unblocked ? 0 : bucket.blocked,
    }));
    if (unblocked) lane.wake();
  }

  /** Nobody waits any more. */
  close(): void {
    this.#closed = true;
    for (const { waiters } of Object.values(this.#lanes))
      for (const { settle } of [...waiters]) settle(false);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Hands out tokens until nobody waits. One for each process asks the store, so that waiting costs little. */
  async #pump(kind: RequestKind, lane: Lane): Promise<void> {
    const { clock, onWait } = this.#options;
    lane.pumping = true;
    lane.since = clock.elapsed();
    lane.shown = false;
    while (lane.waiters.length > 0) {
      const wait = await this.#tryTake(kind);
      const [head] = lane.waiters;
      if (wait === 0) {
        if (head === undefined) {
          await this.#change(kind, (bucket) => ({ ...bucket, tokens: bucket.tokens + 1 }));
          break;
        }
        lane.inFlight += 1;
        lane.since = clock.elapsed();
        lane.shown = false;
        head.settle(true);
        continue;
      }
      if (head === undefined) break;
      const still = clock.elapsed() - lane.since;
      const left = head.within - (clock.elapsed() - Math.max(lane.since, head.asked));
      if (left <= 0) {
        lane.since = clock.elapsed();
        head.settle(false);
        continue;
      }
      if (!lane.shown && still >= shownAfter) {
        lane.shown = true;
        onWait?.(kind, Math.min(wait, left));
      }
      await this.#nap(lane, Math.min(wait, left, lane.shown ? longestNap : Math.max(1, shownAfter - still)));
    }
    lane.pumping = false;
  }

  async #nap(lane: Lane, milliseconds: number): Promise<void> {
    const nap = new AbortController();
    lane.wake = () => nap.abort();
    await this.#options.clock.sleep(Math.ceil(milliseconds), nap.signal).catch(() => {});
    lane.wake = () => {};
  }

  /** 0 when a token was taken, or else the milliseconds until there is one. */
  async #tryTake(kind: RequestKind): Promise<number> {
    const slow =
      this.#scale < 1 ? await this.#tryTakeFrom(this.#slower, kind, allowanceOf(kind, this.#scale)) : 0;
    if (slow > 0) return slow;
    const wait = await this.#tryTakeFrom(this.#options.buckets, this.#nameOf(kind), this.#allowance(kind));
    if (wait > 0 && this.#scale < 1) {
      await this.#slower.update(kind, (bucket) => {
        const kept = bucket ?? unknownBucket(this.#now());
        return { bucket: { ...kept, tokens: kept.tokens + 1 }, result: null };
      });
    }
    return wait;
  }

  #tryTakeFrom(buckets: BucketStore, name: string, allowance: Allowance): Promise<number> {
    return buckets.update(name, (kept) => {
      const now = this.#now();
      const bucket = refill(kept ?? unknownBucket(now), allowance, now);
      const result = waitFor(bucket, allowance);
      return { bucket: result > 0 ? bucket : { ...bucket, tokens: bucket.tokens - 1 }, result };
    });
  }

  #change(kind: RequestKind, change: (bucket: TokenBucket) => TokenBucket): Promise<null> {
    return this.#options.buckets.update(this.#nameOf(kind), (kept) => {
      const now = this.#now();
      return { bucket: change(refill(kept ?? unknownBucket(now), this.#allowance(kind), now)), result: null };
    });
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { wall: clock.now(), elapsed: clock.elapsed() };
  }

  /** A higher rate than the documented one is another project's: its bucket is not that of the others. */
  #nameOf(kind: RequestKind): string {
    return this.#scale > 1 ? `${kind}-x${this.#scale}` : kind;
  }

  /** Of the bucket that is shared. */
  #allowance(kind: RequestKind): Allowance {
    return allowanceOf(kind, Math.max(1, this.#scale));
  }
}

function allowanceOf(kind: RequestKind, scale: number): Allowance {
  const { perSecond, burst } = requestRates[kind];
  return { perSecond: perSecond * scale, burst: Math.max(1, (burst - reserve[kind]) * scale) };
}
