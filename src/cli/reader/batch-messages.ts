import type { Batch, Message, MessagePage } from '../../contract/index.js';
import { pagesOf } from './pages.js';
import { isNotOffered, type Reader, type Unread } from './reader.js';

export interface MessageLister {
  batches: { messages(id: string, page: { limit: number; after?: string }): PromiseLike<MessagePage> };
}

export interface BatchClient {
  batches: MessageLister['batches'] & { get(id: string): Promise<Batch> };
}

/** All messages of a batch, or why they are missing: the service does not list them (`unlisted`), or a code. */
export type Listed = { messages: Message[] } | { unlisted: true } | { unread: string };

/** The messages of a batch; of one with more than `most`, more than `most` of them. */
export async function messagesOfBatch(
  { batches }: MessageLister,
  reader: Pick<Reader, 'read'>,
  id: string,
  most = Number.POSITIVE_INFINITY,
): Promise<Message[] | Unread> {
  const messages: Message[] = [];
  const pages = pagesOf(reader, (page) => batches.messages(id, page));
  while (messages.length <= most) {
    const { value, done } = await pages.next();
    if (!done) messages.push(...value.data);
    // Pages that refer to each other would never end.
    else if (typeof value === 'string') break;
    else return value;
  }
  return messages;
}

/** Reads the messages of many batches. */
export class BatchMessages {
  readonly #client: BatchClient;
  readonly #reader: Reader;
  #isListed = true;

  constructor(client: BatchClient, reader: Reader) {
    this.#client = client;
    this.#reader = reader;
  }

  async of(id: string): Promise<Listed> {
    if (!this.#isListed) return { unlisted: true };
    const messages = await messagesOfBatch(this.#client, this.#reader, id);
    if (Array.isArray(messages)) return { messages };
    if (!isNotOffered(messages)) return { unread: messages.code };
    // If the batch exists, the service does not list messages.
    const batch = await this.#reader.read(() => this.#client.batches.get(id));
    if (!('value' in batch)) return { unread: batch.status === null ? batch.code : messages.code };
    this.#isListed = false;
    return { unlisted: true };
  }
}
