import { exitOfFailure, exits } from '../exit-codes.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import { backoff } from '../time/retry-delay.js';
import { unlessAborted } from '../time/unless-aborted.js';

export interface ReaderOptions {
  /** Each try takes a token of it first; null if the client does that. */
  rateLimiter: Pick<RateLimiter, 'take' | 'block'> | null;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels it. Without it every try is finished. */
  after?(milliseconds: number, run: () => void): () => void;
  /** How long to try without an answer, in milliseconds; a function returns the time that is left, come what may. */
  timeout: number | (() => number);
  /** How often one read is tried, which may be the only one without an answer; a full rate limit does not count. */
  mostTries?: number;
  /** Called when the first try of a read has failed. */
  onFault?(error: Error): void;
  /** Aborted: nothing more is read. */
  stop: AbortSignal;
}

export type Reply<T> = { value: T } | Unread;

/** The code of a refusal; or why there was no answer, with status null. */
export interface Unread {
  code: string;
  status: number | null;
  isTemporary: boolean;
  /** Milliseconds. */
  retryAfter: number | null;
  /** Null if the time was up. */
  error: unknown;
}

/** Nothing was answered in time. */
export const timeUp: Unread = {
  code: 'timeout',
  status: null,
  isTemporary: true,
  retryAfter: null,
  error: null,
};

/** Whether the service lacks the endpoint. */
export const isNotOffered = (reply: Reply<unknown>): boolean =>
  !('value' in reply) && (reply.status === 404 || reply.status === 405);

/** Tries once. Rejects with an error that is not the client's. */
export async function readOnce<T>(work: () => PromiseLike<T>): Promise<Reply<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    const { code, status, retryAfter } = (error ?? {}) as Record<string, unknown>;
    if (typeof code !== 'string' || (status !== null && typeof status !== 'number')) throw error;
    const isTemporary =
      exitOfFailure({ code, status }, 'reading') === exits.later || proxyStatuses.has(status);
    const milliseconds = typeof retryAfter === 'number' ? retryAfter * 1_000 : null;
    return { code, status, isTemporary, retryAfter: milliseconds, error };
  }
}

/** From a proxy, or about a race of requests. */
const proxyStatuses: ReadonlySet<number | null> = new Set([408, 409, 425]);

/**
 * Reads from the service with retries, within the rate limit. It always ends, because no wait is longer than `timeout`.
 */
export class Reader {
  readonly #options: ReaderOptions;
  /** When the service last answered. */
  #answeredAt: number;
  /** Why nothing more is read. */
  #givenUp: Unread | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#answeredAt = options.now();
  }

  /** Waits, but not beyond the time that is left. */
  pause(milliseconds: number): Promise<void> {
    return this.#options.sleep(Math.min(milliseconds, Math.max(0, this.#left)), this.#options.stop);
  }

  /** Reads until there is an answer, or no time is left. Rejects with an error that is not the client's. */
  async read<T>(work: () => PromiseLike<T>): Promise<Reply<T>> {
    const { rateLimiter, mostTries = 5, onFault, timeout } = this.#options;
    for (let tries = 1; ; ) {
      const reply = this.#givenUp ?? (await this.#try(work));
      if ('value' in reply || reply === this.#givenUp || !reply.isTemporary) return reply;
      const { status, retryAfter } = reply;
      if (status === 429 && rateLimiter !== null) {
        rateLimiter.block('reading', retryAfter ?? 1_000);
        continue;
      }
      if (tries === mostTries) return { ...reply, status: null };
      if (tries === 1) onFault?.(reply.error as Error);
      const longer = rateLimiter === null ? (retryAfter ?? 0) : 0;
      const wait = Math.max(longer, backoff(tries + 1, 1));
      if (typeof timeout === 'function' && wait > this.#left) return timeUp;
      await this.pause(wait);
      tries += 1;
    }
  }

  get #left(): number {
    const { timeout, now } = this.#options;
    return typeof timeout === 'number' ? this.#answeredAt + timeout - now() : timeout();
  }

  async #try<T>(work: () => PromiseLike<T>): Promise<Reply<T>> {
    const { rateLimiter, stop, after, now } = this.#options;
    const left = this.#left;
    if (left <= 0 || stop.aborted) return this.#giveUp(timeUp);
    const over = new AbortController();
    const end = () => over.abort();
    stop.addEventListener('abort', end);
    const cancel = Number.isFinite(left) ? after?.(left, end) : undefined;
    try {
      const isAllowed = rateLimiter === null || (await rateLimiter.take('reading', over.signal, left));
      if (!isAllowed) return this.#giveUp({ ...timeUp, code: 'rate_limited' });
      const cut = after === undefined ? undefined : over.signal;
      const reply = await unlessAborted(() => readOnce(work), cut);
      if (reply === null) return this.#giveUp(timeUp);
      if ('value' in reply) this.#answeredAt = now();
      // A refused key will be refused every time.
      else if (isOfKey(reply)) this.#givenUp = { ...reply, status: null };
      return reply;
    } finally {
      cancel?.();
      stop.removeEventListener('abort', end);
    }
  }

  #giveUp(unread: Unread): Unread {
    const { stop } = this.#options;
    this.#givenUp = stop.aborted ? { ...unread, code: 'stopped', error: stop.reason } : unread;
    return this.#givenUp;
  }
}

const isOfKey = ({ status, isTemporary }: Unread) => !isTemporary && (status === 401 || status === 403);
