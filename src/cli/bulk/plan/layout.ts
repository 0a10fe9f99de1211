import type { Messages } from './message-store.js';

/** One request of the plan, before it is written. */
export interface PlannedRequest {
  message: number;
  batch: boolean;
  /** Where its recipients begin among those of all requests. */
  first: number;
  recipients: number;
}

/**
 * Where every recipient goes: message by message in the order they first appear, each cut into batches as
 * large as they may be. A message with one recipient is a single send.
 */
export class Layout {
  recipients = 0;
  requests = 0;
  singles = 0;
  /** Of the recipient that `next` was last called for: its request, its place there, and among all. */
  request = 0;
  index = 0;
  position = 0;
  readonly #messages: Messages;
  /** Of each message: recipients of a full request, its first request, and the place of its first recipient. */
  readonly #capacities: Uint16Array;
  readonly #firstRequests: Uint32Array;
  readonly #starts: Uint32Array;
  /** Recipients of each message that the walk has met. */
  readonly #seen: Uint32Array;

  constructor(messages: Messages, maxRecipientBytes: number) {
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

  /** Begins a walk over the recipients in the order of the rows; one at a time. */
  restart(): void {
    this.#seen.fill(0);
  }

  /** Finds where the next recipient of a message goes: `request`, `index` and `position`. */
  next(message: number): void {
    const seen = this.#seen[message] ?? 0;
    const capacity = this.#capacities[message] ?? 1;
    this.#seen[message] = seen + 1;
    this.index = seen % capacity;
    this.request = (this.#firstRequests[message] ?? 0) + ((seen / capacity) | 0);
    this.position = (this.#starts[message] ?? 0) + seen;
  }

  /** The requests in order. */
  *inOrder(): Generator<PlannedRequest, void> {
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
