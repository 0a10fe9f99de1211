import type { InboxFilter, InboxMessage, PageOptions } from '../../contract/index.js';
import type { CallOptions } from '../call-options.js';
import { type List, listOf } from '../list.js';
import type { RequestSender } from '../transport/request.js';

/** Received messages: `client.inbox`. */
export class Inbox {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Lists received messages, newest first: `await` reads one page, `for await` all messages (GET /v1/inbox, an
   * extension).
   * @param filter which messages, and which page; all messages without one
   * @param options of each request
   * @throws {UrtuuError} `invalid_request`: a malformed filter; `not_found`, `method_not_allowed`: the service has no
   * inbox ...
   */
  list(filter: InboxFilter & PageOptions = {}, options?: CallOptions): List<InboxMessage> {
    return listOf(this.#request, {
      path: () => '/inbox',
      fields: ['channel', 'since', 'until'] satisfies (keyof InboxFilter)[],
      filter,
      options,
      extension: { name: 'an inbox' },
    });
  }
}
