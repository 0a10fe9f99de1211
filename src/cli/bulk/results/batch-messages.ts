import { type Batch, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import { readError } from '../send/answer.js';
import { backoff } from '../send/retry-delay.js';
import type { MessageLister } from '../send/run.js';
import { unlessAborted } from '../send/unless-aborted.js';

export interface BatchMessagesOptions {
  client: { batches: MessageLister['batches'] & { get(id: string): Promise<Batch> } };
  rateLimiter: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels that. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to try without an answer, in milliseconds. */
  timeout: number;
  /** Aborted: nothing is read any more. */
  stop: AbortSignal;
}

/** All messages of a batch, or why not: the service does not list them (`unlisted`), or a code. */
export type Listed = { messages: Message[] } | { unlisted: true } | { unread: string };

type Reply<T> = { value: T } | { refused: string; status: number } | { unread: string };

/** For one page: it may be the only one without an answer. */
const mostFaults = 5;

/** Reads the messages of batches. It always ends: nothing is waited for longer than `timeout`. */
export class BatchMessages {
  readonly #options: BatchMessagesOptions;
  /** When the service last answered. */
  #answeredAt: number;
  #isListed = true;
  /** Why nothing is read any more. */
  #givenUp: string | null = null;

  constructor(options: BatchMessagesOptions) {
    this.#options = options;
    this.#answeredAt = options.now();
  }

  async of(id: string): Promise<Listed> {
    const messages: Message[] = [];
    const pages = new Set<string>();
    for (let after: string | null = null; ; ) {
      if (!this.#isListed) return { unlisted: true };
      const page: Reply<MessagePage> = await this.#page(id, after);
      if ('unread' in page) return page;
      if ('refused' in page) {
        if (page.status !== 404 && page.status !== 405) return { unread: page.refused };
        const missing = await this.#whyMissing(id, page.refused);
        if (missing !== null) return missing;
        this.#isListed = false;
        continue;
      }
      messages.push(...page.value.data);
      const { next } = page.value;
      // Pages that name each other would never end.
      if (next === null || pages.has(next)) return { messages };
      pages.add(next);
      after = next;
    }
  }

  #page(id: string, after: string | null): Promise<Reply<MessagePage>> {
    const { batches } = this.#options.client;
    const page = { limit: messagePage.max, ...(after === null ? {} : { after }) };
    return this.#read(() => batches.messages(id, page));
  }

  /** Null when the batch exists: then the service does not list messages. */
  async #whyMissing(id: string, code: string): Promise<Listed | null> {
    const batch = await this.#read(() => this.#options.client.batches.get(id));
    if ('value' in batch) return null;
    return 'unread' in batch ? batch : { unread: code };
  }

  /** Until there is an answer, or no time left. */
  async #read<T>(work: () => Promise<T>): Promise<Reply<T>> {
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
        if (faults === mostFaults) return { unread: reply.code };
        await sleep(Math.min(backoff(faults + 1, 1), Math.max(0, left)), stop);
      } else if (reply.status === 429) {
        rateLimiter.block('reading', (reply.retryAfter ?? 1) * 1_000);
      } else {
        // A refused key is refused every time.
        if (reply.status === 401 || reply.status === 403) this.#givenUp = reply.code;
        return { refused: reply.code, status: reply.status };
      }
    }
    return { unread: this.#givenUp };
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
