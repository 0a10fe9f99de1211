import { type Batch, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import type { MessageLister } from '../send/run.js';
import { isNotOffered, type Reader, type Reply } from './reader.js';

export interface BatchClient {
  batches: MessageLister['batches'] & { get(id: string): Promise<Batch> };
}

/** All messages of a batch, or why they are missing: the service does not list them (`unlisted`), or a code. */
export type Listed = { messages: Message[] } | { unlisted: true } | { unread: string };

/** Reads the messages of batches. */
export class BatchMessages {
  readonly #client: BatchClient;
  readonly #reader: Reader;
  #isListed = true;

  constructor(client: BatchClient, reader: Reader) {
    this.#client = client;
    this.#reader = reader;
  }

  async of(id: string): Promise<Listed> {
    const messages: Message[] = [];
    const pages = new Set<string>();
    for (let after: string | null = null; ; ) {
      if (!this.#isListed) return { unlisted: true };
      const page: Reply<MessagePage> = await this.#page(id, after);
      if (!('value' in page)) {
        if (!isNotOffered(page)) return { unread: page.code };
        const missing = await this.#whyMissing(id, page.code);
        if (missing !== null) return missing;
        this.#isListed = false;
        continue;
      }
      messages.push(...page.value.data);
      const { next } = page.value;
      // Pages that refer to each other would never end.
      if (next === null || pages.has(next)) return { messages };
      pages.add(next);
      after = next;
    }
  }

  #page(id: string, after: string | null): Promise<Reply<MessagePage>> {
    const { batches } = this.#client;
    const page = { limit: messagePage.max, ...(after === null ? {} : { after }) };
    return this.#reader.read(() => batches.messages(id, page));
  }

  /** Null if the batch exists, which means that the service does not list messages. */
  async #whyMissing(id: string, code: string): Promise<Listed | null> {
    const batch = await this.#reader.read(() => this.#client.batches.get(id));
    if ('value' in batch) return null;
    return { unread: batch.status === null ? batch.code : code };
  }
}
