import { type Batch, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import { readError } from '../send/answer.js';
import { unlessAborted } from '../send/send-once.js';

export interface ListingClient {
  batches: {
    get(id: string): Promise<Batch>;
    messages(id: string, page: { limit: number; after?: string }): Promise<MessagePage>;
  };
}

export interface ListingOptions {
  client: ListingClient;
  pace: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels that. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to go on without an answer, in milliseconds. */
  timeout: number;
  /** Aborted: nothing is asked any more. */
  stop: AbortSignal;
}

/** All messages of a batch, or why they are not known: with `unlisted` nobody can know them here. */
export type Listed = { messages: Message[] } | { unlisted: true } | { unread: string };

type Reply<T> = { value: T } | { refused: string; status: number } | { unread: string };

/** Answers of no use for one question; it may be that page alone that has none. */
const mostFaults = 5;

/** Reads the messages of batches. Whatever happens, it ends: nothing is waited for longer than `timeout`. */
export class Listing {
  readonly #options: ListingOptions;
  /** When the service last answered as it should. */
  #answered: number;
  #listed = true;
  /** Why nothing is asked any more. */
  #given: string | null = null;

  constructor(options: ListingOptions) {
    this.#options = options;
    this.#answered = options.now();
  }

  async messagesOf(id: string): Promise<Listed> {
    const messages: Message[] = [];
    for (let after: string | null = null; ; ) {
      if (!this.#listed) return { unlisted: true };
      const page: Reply<MessagePage> = await this.#page(id, after);
      if ('unread' in page) return page;
      if ('refused' in page) {
        if (page.status !== 404 && page.status !== 405) return { unread: page.refused };
        const missing = await this.#whyMissing(id, page.refused);
        if (missing !== null) return missing;
        this.#listed = false;
        continue;
      }
      messages.push(...page.value.data);
      // A page that repeats its own mark would go round for ever.
      if (page.value.next === null || page.value.next === after) return { messages };
      after = page.value.next;
    }
  }

  #page(id: string, after: string | null): Promise<Reply<MessagePage>> {
    const { batches } = this.#options.client;
    const page = { limit: messagePage.max, ...(after === null ? {} : { after }) };
    return this.#ask(() => batches.messages(id, page));
  }

  /** Null when the batch is there, and only its messages are not: the service has no such list. */
  async #whyMissing(id: string, code: string): Promise<Listed | null> {
    const batch = await this.#ask(() => this.#options.client.batches.get(id));
    if ('value' in batch) return null;
    return 'unread' in batch ? batch : { unread: code };
  }

  /** Asks until there is an answer, no time left, or no hope. */
  async #ask<T>(work: () => Promise<T>): Promise<Reply<T>> {
    const { now, sleep, stop, timeout, pace } = this.#options;
    for (let faults = 0; this.#given === null; ) {
      const left = this.#answered + timeout - now();
      const reply = await this.#askOnce(work, left);
      if ('value' in reply) {
        this.#answered = now();
        return reply;
      }
      if (reply.kind === 'late') {
        this.#given = stop.aborted ? 'stopped' : reply.code;
      } else if (reply.kind === 'doubt' || reply.kind === 'unsent') {
        faults += 1;
        if (faults === mostFaults) return { unread: reply.code };
        await sleep(Math.min(500 * 2 ** faults, Math.max(0, left)), stop);
      } else if (reply.status === 429) {
        pace.block('reading', (reply.retryAfter ?? 1) * 1_000);
      } else {
        // What is wrong with the key is wrong with every question.
        if (reply.status === 401 || reply.status === 403) this.#given = reply.code;
        return { refused: reply.code, status: reply.status };
      }
    }
    return { unread: this.#given };
  }

  async #askOnce<T>(work: () => Promise<T>, left: number) {
    const { pace, stop, after } = this.#options;
    if (left <= 0 || stop.aborted) return late('timeout');
    const over = new AbortController();
    const end = () => over.abort();
    stop.addEventListener('abort', end);
    const cancel = after(left, end);
    try {
      if (!(await pace.take('reading', over.signal))) return late('rate_limited');
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
