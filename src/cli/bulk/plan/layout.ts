import type { MessageStore } from './message-store.js';

/** The recipients and the message of one request. */
export interface RequestLayout {
  message: number;
  batch: boolean;
  /** The position of its first recipient among all recipients. */
  first: number;
  recipients: number;
}

/**
 * Divides the recipients into requests, message by message in order of appearance, in batches as large as allowed. A
 * message with one recipient is a single send.
 */
export class Layout {
  recipients = 0;
  requests = 0;
  singles = 0;
  /**
   * The place of the recipient of the last `next`: its request, its index there, and its position among all recipients.
   */
  request = 0;
  index = 0;
  position = 0;
  readonly #messages: MessageStore;
  /** By message: recipients of a full request, first request, position of the first recipient. */
  readonly #capacities: Uint16Array;
  readonly #firstRequests: Uint32Array;
  readonly #starts: Uint32Array;
  /** By message: the number of recipients that `next` has passed. */
  readonly #seen: Uint32Array;

  constructor(messages: MessageStore, maxRecipientBytes: number) {
    this.#messages = messages;
    this.#capacities = new Uint16Array(messages.length);
    this.#firstRequests = new Uint32Array(messages.length);
    this.#starts = new Uint32Array(messages.length);
    this.#seen = new Uint32Array(messages.length);
    for (let message = 0; message < messages.length; message += 1) {
      const count = messages.counts[message] ?? 0;
      this.#firstRequests[message] = this.requests;
      this.#starts[message] = this.recipients;
      this.recipients += count;
      const capacity = messages.capacity(message, maxRecipientBytes);
      this.#capacities[message] = capacity;
      this.requests += Math.ceil(count / capacity);
      if (count === 1) this.singles += 1;
    }
  }

  /** Begins a pass over the recipients in row order; one pass at a time. */
  restart(): void {
    this.#seen.fill(0);
  }

  /** Sets `request`, `index` and `position` for the next recipient of a message. */
  next(message: number): void {
    const seen = this.#seen[message] ?? 0;
    const capacity = this.#capacities[message] ?? 1;
    this.#seen[message] = seen + 1;
    this.index = seen % capacity;
    this.request = (this.#firstRequests[message] ?? 0) + ((seen / capacity) | 0);
    this.position = (this.#starts[message] ?? 0) + seen;
  }

  /** The number of the first request of a message. */
  firstRequest(message: number): number {
    return this.#firstRequests[message] ?? 0;
  }

  *requestsInOrder(): Generator<RequestLayout, void> {
    for (let message = 0; message < this.#messages.length; message += 1) {
      const count = this.#messages.counts[message] ?? 0;
      const capacity = this.#capacities[message] ?? 1;
      for (let done = 0; done < count; done += capacity) {
        const recipients = Math.min(capacity, count - done);
        yield { message, batch: count > 1, first: (this.#starts[message] ?? 0) + done, recipients };
      }
    }
  }
}
