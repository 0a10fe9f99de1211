import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import { readError } from '../send/answer.js';
import { backoff } from '../send/retry-delay.js';
import { unlessAborted } from '../send/unless-aborted.js';

export interface ReaderOptions {
  rateLimiter: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to try without an answer, in milliseconds. */
  timeout: number;
  /** Aborted: nothing more is read. */
  stop: AbortSignal;
}

export type Reply<T> = { value: T } | Unread;

/** The code of a refusal; or why there was no answer, with status null. */
export interface Unread {
  code: string;
  status: number | null;
}

/** Whether the service lacks the endpoint. */
export const isNotOffered = (reply: Reply<unknown>): boolean =>
  !('value' in reply) && (reply.status === 404 || reply.status === 405);

/** For one read, which may be the only one without an answer. */
const mostFaults = 5;

/**
 * Reads from the service with retries, within the rate limit. It always ends, because no wait is longer than `timeout`.
 */
export class Reader {
  readonly #options: ReaderOptions;
  /** When the service last answered. */
  #answeredAt: number;
  /** Why nothing more is read. */
  #givenUp: string | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#answeredAt = options.now();
  }

  /** Reads until there is an answer, or no time is left. */
  async read<T>(work: () => Promise<T>): Promise<Reply<T>> {
    const { now, sleep, stop, timeout, rateLimiter } = this.#options;
    for (let faults = 0; this.#givenUp === null; ) {
      const left = this.#answeredAt + timeout - now();
      const reply = await this.#readOnce(work, left);
      if ('value' in reply) {
        this.#answeredAt = now();
        return reply;
      }
      if (reply.kind === 'late') {
        this.#givenUp = stop.aborted ? 'stopped' : reply.code;
      } else if (reply.kind === 'doubt' || reply.kind === 'unsent') {
        faults += 1;
        if (faults === mostFaults) return { code: reply.code, status: null };
        await sleep(Math.min(backoff(faults + 1, 1), Math.max(0, left)), stop);
      } else if (reply.status === 429) {
        rateLimiter.block('reading', (reply.retryAfter ?? 1) * 1_000);
      } else {
        // A refused key will be refused every time.
        if (reply.status === 401 || reply.status === 403) this.#givenUp = reply.code;
        return { code: reply.code, status: reply.status };
      }
    }
    return { code: this.#givenUp, status: null };
  }

  async #readOnce<T>(work: () => Promise<T>, left: number) {
    const { rateLimiter, stop, after } = this.#options;
    if (left <= 0 || stop.aborted) return late('timeout');
    const over = new AbortController();
    const end = () => over.abort();
    stop.addEventListener('abort', end);
    const cancel = after(left, end);
    try {
      if (!(await rateLimiter.take('reading', over.signal))) return late('rate_limited');
      const value = await unlessAborted(async () => ({ value: await work() }), over.signal);
      return value ?? late('timeout');
    } catch (error) {
      return readError(error);
    } finally {
      cancel();
      stop.removeEventListener('abort', end);
    }
  }
}

const late = (code: string) => ({ kind: 'late', code }) as const;
