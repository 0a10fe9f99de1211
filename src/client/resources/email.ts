import type { BatchResult, EmailBulkParams, EmailResult, EmailSendParams } from '../../contract/index.js';
import type { SendOptions } from '../options.js';
import { type Request, sendCall } from '../request.js';
import { sendEndpoints } from '../send-endpoints.js';

export class Email {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /**
   * Queues one email; `messages.get` tells whether it was sent (POST /v1/email).
   * @throws {UrtuuError} `message_too_long`, `recipient_rate_limited`, `insufficient_credits` ...
   */
  async send(params: EmailSendParams, options?: SendOptions): Promise<EmailResult> {
    return this.#request(sendCall(sendEndpoints.email.single, params, options));
  }

  /**
   * Queues a separate email to each of 1 to 1,000 addresses, charged up front; duplicates are merged
   * (POST /v1/email/bulk).
   * @throws {UrtuuError} `invalid_request` with the refused addresses in `invalid`: nothing was sent or charged.
   */
  async sendBulk(params: EmailBulkParams, options?: SendOptions): Promise<BatchResult> {
    return this.#request(sendCall(sendEndpoints.email.batch, params, options));
  }
}
