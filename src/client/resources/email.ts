import type { BatchResult, EmailBulkParams, EmailResult, EmailSendParams } from '../../contract/index.js';
import { sendCall } from '../call.js';
import type { SendOptions } from '../call-options.js';
import { sendEndpoints } from '../send-endpoints.js';
import type { RequestSender } from '../transport/request.js';

/** Email: `client.email`. */
export class Email {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Queues one email; read its status with `messages.get` (POST /v1/email).
   * @param params the recipient and the message
   * @param options of this call
   * @throws {UrtuuError} `message_too_long`, `recipient_suppressed`, `recipient_rate_limited`, `insufficient_credits` ...
   */
  async send(params: EmailSendParams, options?: SendOptions): Promise<EmailResult> {
    return this.#request(sendCall(sendEndpoints.email.single, params, options));
  }

  /**
   * Queues one email each for 1 to 1,000 addresses and charges them up front; merges duplicates
   * (POST /v1/email/bulk).
   * @param params the recipients and the message
   * @param options of this call
   * @throws {UrtuuError} `invalid_request` with the refused addresses in `invalid`: nothing is sent or charged ...
   */
  async sendBulk(params: EmailBulkParams, options?: SendOptions): Promise<BatchResult> {
    return this.#request(sendCall(sendEndpoints.email.batch, params, options));
  }
}
