import type { BatchResult, SmsBulkParams, SmsResult, SmsSendParams } from '../../contract/index.js';
import { sendCall } from '../call.js';
import type { SendOptions } from '../call-options.js';
import { sendEndpoints } from '../send-endpoints.js';
import type { RequestSender } from '../transport/request.js';

/** SMS: `client.sms`. */
export class Sms {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Sends one SMS and resolves when the operator has accepted it (POST /v1/sms).
   * @param params the recipient and the message
   * @param options of this call
   * @throws {UrtuuError} `unsupported_number`, `message_too_long`, `recipient_suppressed`, `recipient_rate_limited`,
   * `insufficient_credits`, `provider_failed` (refunded) ...
   */
  async send(params: SmsSendParams, options?: SendOptions): Promise<SmsResult> {
    return this.#request(sendCall(sendEndpoints.sms.single, params, options));
  }

  /**
   * Queues one text for 1 to 1,000 numbers and charges it up front; merges duplicates (POST /v1/sms/bulk).
   * @param params the recipients and the message
   * @param options of this call
   * @throws {UrtuuError} `invalid_request` with the refused numbers in `invalid`: nothing is sent or charged ...
   */
  async sendBulk(params: SmsBulkParams, options?: SendOptions): Promise<BatchResult> {
    return this.#request(sendCall(sendEndpoints.sms.batch, params, options));
  }
}
