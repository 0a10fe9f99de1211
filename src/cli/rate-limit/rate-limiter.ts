import { type RequestKind, requestRates } from '../../contract/index.js';
import { onAbort } from '../../contract/on-abort.js';
import type { Clock } from '../time/clock.js';
import { type BucketStore, memoryBuckets } from './bucket-store.js';
import {
  type Changed,
  longestBlock,
  type Moment,
  type RateLimit,
  refill,
  type Taken,
  type TokenBucket,
  takeTokens,
  unknownBucket,
} from './token-bucket.js';

export interface RateLimiterOptions {
  buckets: BucketStore;
  clock: Clock;
  /** Called once for each wait of more than a second; `milliseconds`: the time that it may still take. */
  onWait?(milliseconds: number): void;
}

/** Tokens kept in reserve, so that requests that overtake each other do not exceed the limit. */
const reservedTokens = { sending: 3, reading: 1 } as const;
/**
 * How many waiting reads are sent together: waking up for each takes most of a look-up's CPU time. Sends are sent
 * evenly.
 */
const tokensTogether = { sending: 1, reading: 4 } as const;
/** Another process may learn sooner that the wait is over. */
const longestNap = 1_000;
const shownAfter = 1_000;

interface Waiter {
  end(taken: boolean): void;
  within: number;
  asked: number;
}

const newQueue = () => ({
  waiters: [] as Waiter[],
  pumping: false,
  /** Ends the current nap. */
  wake() {},
  /** When a token was last taken, or the wait for one started. */
  since: 0,
  shown: false,
  /** Requests without an answer yet. */
  inFlight: 0,
  /** Requests in flight that did not wait for their token. */
  ahead: 0,
  /** The shared bucket, as last changed by this process. */
  bucket: null as TokenBucket | null,
});
type Queue = ReturnType<typeof newQueue>;

/**
 * Keeps the requests of a project within its rate limits. The processes on this machine share the token buckets;
 * `X-RateLimit-Remaining` corrects them for requests from elsewhere.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #queues: Record<RequestKind, Queue> = { sending: newQueue(), reading: newQueue() };
  /** This command's own buckets, for a rate below the limit. */
  readonly #slower = memoryBuckets();
  #scale = 1;
  #closed = false;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Sets the sending requests a second; reading requests change in proportion. */
  limitTo(perSecond: number): void {
    this.#scale = perSecond / requestRates.sending.perSecond;
  }

  /**
   * Waits for a token and takes it, first come, first served. False if the signal came first, or if this process got no
   * token for `within` milliseconds.
   */
  take(kind: RequestKind, signal?: AbortSignal, within = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (signal?.aborted || this.#closed) return Promise.resolve(false);
    const queue = this.#queues[kind];
    return new Promise((resolve) => {
      const waiter: Waiter = {
        end: (taken) => {
          queue.waiters = queue.waiters.filter((other) => other !== waiter);
          stopListening?.();
          if (queue.waiters.length === 0) queue.wake();
          resolve(taken);
        },
        within,
        asked: this.#options.clock.elapsed(),
      };
      const stopListening = signal && onAbort(signal, () => waiter.end(false));
      queue.waiters.push(waiter);
      if (!queue.pumping) void this.#pump(kind, queue);
    });
  }

  /** Counts a request that is sent without waiting for its token. */
  goAhead(kind: RequestKind): void {
    const queue = this.#queues[kind];
    queue.inFlight += 1;
    queue.ahead += 1;
    void this.#change(kind, (bucket) => ({ ...bucket, tokens: bucket.tokens - 1 }));
  }

  /** Stops sending for the time in Retry-After. */
  block(kind: RequestKind, milliseconds: number): void {
    void this.#change(kind, (bucket) => ({
      ...bucket,
      tokens: Math.min(bucket.tokens, 1),
      blocked: Math.max(bucket.blocked, Math.min(milliseconds, longestBlock)),
    }));
  }

  /**
   * A request has ended; `remaining` is the X-RateLimit-Remaining of its answer. Others share the limit, so the service
   * may have fewer tokens than this bucket: requests in flight count as not yet deducted. A higher number is trusted
   * only for an unknown bucket; otherwise two processes would both trust it. Without the header, the documented limit
   * applies.
   */
  ended(kind: RequestKind, status: number | null, remaining: number | null): void {
    const queue = this.#queues[kind];
    queue.inFlight = Math.max(0, queue.inFlight - 1);
    const wentAhead = queue.ahead > 0;
    queue.ahead = Math.max(0, queue.ahead - 1);
    if (status === null || (status === 429 && remaining === null)) return;
    const { burst } = this.#rateLimit(kind);
    const left = remaining === null ? null : remaining - queue.inFlight - reservedTokens[kind];
    const unblocked = wentAhead && status !== 429;
    if (!unblocked && this.#isBelow(kind, left)) return;
    void this.#change(kind, (bucket) => ({
      ...bucket,
      known: true,
      tokens: bucket.known
        ? Math.min(bucket.tokens, left ?? bucket.tokens)
        : Math.min(burst, left ?? burst - queue.inFlight - 1),
      // A request was sent despite the block, and was answered, so the block is over.
      blocked: unblocked ? 0 : bucket.blocked,
    }));
    if (unblocked) queue.wake();
  }

  /** Whether the shared bucket has no more than `left` tokens; correcting it would cost every request a file access. */
  #isBelow(kind: RequestKind, left: number | null): boolean {
    const { bucket } = this.#queues[kind];
    if (!bucket?.known) return false;
    return left === null || refill(bucket, this.#rateLimit(kind), this.#now()).tokens <= left;
  }

  /** Ends all waits. */
  close(): void {
    this.#closed = true;
    for (const { waiters } of Object.values(this.#queues)) for (const { end } of [...waiters]) end(false);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Distributes tokens until nobody waits. Only this loop asks the store, so waiting costs little. */
  async #pump(kind: RequestKind, queue: Queue): Promise<void> {
    const { clock, onWait } = this.#options;
    queue.pumping = true;
    queue.since = clock.elapsed();
    queue.shown = false;
    while (queue.waiters.length > 0) {
      const { tokens, wait } = await this.#tryTake(kind);
      if (tokens > 0) {
        const heads = queue.waiters.slice(0, tokens);
        queue.inFlight += heads.length;
        queue.since = clock.elapsed();
        queue.shown = false;
        for (const { end } of heads) end(true);
        const unused = tokens - heads.length;
        if (unused > 0) await this.#change(kind, (bucket) => ({ ...bucket, tokens: bucket.tokens + unused }));
        continue;
      }
      const [head] = queue.waiters;
      if (head === undefined) break;
      const still = clock.elapsed() - queue.since;
      const left = head.within - (clock.elapsed() - Math.max(queue.since, head.asked));
      if (left <= 0) {
        queue.since = clock.elapsed();
        head.end(false);
        continue;
      }
      if (!queue.shown && still >= shownAfter) {
        queue.shown = true;
        onWait?.(Math.min(wait, left));
      }
      await this.#nap(
        queue,
        Math.min(wait, left, queue.shown ? longestNap : Math.max(1, shownAfter - still)),
      );
    }
    queue.pumping = false;
  }

  async #nap(queue: Queue, milliseconds: number): Promise<void> {
    const nap = new AbortController();
    queue.wake = () => nap.abort();
    await this.#options.clock.sleep(Math.ceil(milliseconds), nap.signal).catch(() => {});
    queue.wake = () => {};
  }

  async #tryTake(kind: RequestKind): Promise<Taken> {
    if (this.#scale >= 1) return this.#tryTakeShared(kind, this.#queues[kind].waiters.length);
    const slow = await this.#tryTakeSlower(kind);
    if (slow.tokens === 0) return slow;
    const taken = await this.#tryTakeShared(kind, 1);
    if (taken.tokens === 0) {
      await this.#slower.update(kind, (bucket) => {
        const kept = bucket ?? unknownBucket(this.#now());
        return { bucket: { ...kept, tokens: kept.tokens + 1 }, result: null };
      });
    }
    return taken;
  }

  #tryTakeSlower(kind: RequestKind): Promise<Taken> {
    const limit = rateLimitOf(kind, this.#scale);
    return this.#slower.update(kind, (kept) => {
      const now = this.#now();
      return takeTokens(refill(kept ?? unknownBucket(now), limit, now), limit, 1, 1);
    });
  }

  #tryTakeShared(kind: RequestKind, wanted: number): Promise<Taken> {
    const limit = this.#rateLimit(kind);
    const { bucket } = this.#queues[kind];
    const least = Math.min(wanted, tokensTogether[kind]);
    // Others only take tokens, so its file is read only when there may be one.
    if (bucket?.known && bucket.blocked === 0) {
      const { result } = takeTokens(refill(bucket, limit, this.#now()), limit, wanted, least);
      if (result.tokens === 0) return Promise.resolve(result);
    }
    return this.#update(kind, (shared) => takeTokens(shared, limit, wanted, least));
  }

  #change(kind: RequestKind, change: (bucket: TokenBucket) => TokenBucket): Promise<null> {
    return this.#update(kind, (bucket) => ({ bucket: change(bucket), result: null }));
  }

  #update<Result>(kind: RequestKind, change: (refilled: TokenBucket) => Changed<Result>): Promise<Result> {
    return this.#options.buckets.update(this.#nameOf(kind), (kept) => {
      const now = this.#now();
      const changed = change(refill(kept ?? unknownBucket(now), this.#rateLimit(kind), now));
      this.#queues[kind].bucket = changed.bucket;
      return changed;
    });
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { wall: clock.now(), elapsed: clock.elapsed() };
  }

  /** A rate above the documented limit has its own buckets. */
  #nameOf(kind: RequestKind): string {
    return this.#scale > 1 ? `${kind}-x${this.#scale}` : kind;
  }

  /** The rate limit of the shared buckets. */
  #rateLimit(kind: RequestKind): RateLimit {
    return rateLimitOf(kind, Math.max(1, this.#scale));
  }
}

function rateLimitOf(kind: RequestKind, scale: number): RateLimit {
  const { perSecond, burst } = requestRates[kind];
  return { perSecond: perSecond * scale, burst: Math.max(1, (burst - reservedTokens[kind]) * scale) };
}
