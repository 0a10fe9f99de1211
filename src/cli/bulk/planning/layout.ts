import type { Messages } from './messages.js';

/** One request of the plan, before it is written. */
export interface PlannedChunk {
  message: number;
  batch: boolean;
  /** Where its recipients begin among those of all chunks. */
  first: number;
  recipients: number;
}

/**
 * Where every recipient goes: message by message in the order they first appear, each cut into batches as
 * large as they may be. A message with one recipient is a single send.
 */
export class Layout {
  recipients = 0;
  chunks = 0;
  singles = 0;
  readonly #messages: Messages;
  readonly #maxRecipientBytes: number;
  /** Of each message: its first chunk, and the place of its first recipient. */
  readonly #firstChunks: Uint32Array;
  readonly #starts: Uint32Array;

  constructor(messages: Messages, maxRecipientBytes: number) {
    this.#messages = messages;
    this.#maxRecipientBytes = maxRecipientBytes;
    this.#firstChunks = new Uint32Array(messages.length);
    this.#starts = new Uint32Array(messages.length);
    for (let message = 0; message < messages.length; message += 1) {
      const count = messages.counts[message] ?? 0;
      this.#firstChunks[message] = this.chunks;
      this.#starts[message] = this.recipients;
      this.recipients += count;
      this.chunks += Math.ceil(count / this.#capacity(message));
      if (count === 1) this.singles += 1;
    }
  }

  /** A walk over the recipients in the order of the rows, message by message. */
  walk(): (message: number) => { chunk: number; index: number; position: number } {
    const next = this.#starts.slice();
    const found = { chunk: 0, index: 0, position: 0 };
    return (message) => {
      const position = next[message] ?? 0;
      next[message] = position + 1;
      const within = position - (this.#starts[message] ?? 0);
      const capacity = this.#capacity(message);
      found.index = within % capacity;
      found.chunk = (this.#firstChunks[message] ?? 0) + (within - found.index) / capacity;
      found.position = position;
      return found;
    };
  }

  /** The chunks in order. */
  *inOrder(): Generator<PlannedChunk, void> {
    for (let message = 0; message < this.#messages.length; message += 1) {
      const count = this.#messages.counts[message] ?? 0;
      const capacity = this.#capacity(message);
      for (let done = 0; done < count; done += capacity) {
        const recipients = Math.min(capacity, count - done);
        yield { message, batch: count > 1, first: (this.#starts[message] ?? 0) + done, recipients };
      }
    }
  }

  #capacity(message: number): number {
    return this.#messages.capacity(message, this.#maxRecipientBytes);
  }
}
