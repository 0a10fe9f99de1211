import type { Message, MessageFilter, PageOptions } from '../../contract/index.js';
import { segment } from '../arguments.js';
import { readCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import { type List, listOf } from '../list.js';
import { hasStatus } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/** Sent messages: `client.messages`. */
export class Messages {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Reads a message and its status: `queued`, `sent` or `failed` (GET /v1/messages/{id}).
   * @param id UUID of the message
   * @param options of this call
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string, options?: CallOptions): Promise<Message> {
    return this.#request(readCall(`/messages/${segment(id)}`, hasStatus, options));
  }

  /**
   * Lists messages, verifications too, newest first: `await` reads one page, `for await` all messages
   * (GET /v1/messages, an extension).
   * @param filter which messages, and which page; all messages without one
   * @param options of each request
   * @throws {UrtuuError} `invalid_request`: a malformed filter; `not_found`, `method_not_allowed`: the service does
   * not offer lists ...
   */
  list(filter: MessageFilter & PageOptions = {}, options?: CallOptions): List<Message> {
    return listOf(this.#request, {
      path: () => '/messages',
      fields: [
        'to',
        'channel',
        'status',
        'delivery',
        'batch_id',
        'since',
        'until',
      ] satisfies (keyof MessageFilter)[],
      filter,
      options,
      extension: { name: 'lists of messages' },
    });
  }
}
