import type { SuppressionsCheck, SuppressionsCheckParams } from '../../contract/index.js';
import { checkCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import { hasReasons } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/** Recipients to whom nothing more is sent: `client.suppressions`. */
export class Suppressions {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Says who of 1 to 1,000 numbers and addresses is sent nothing more, and why; sends nothing
   * (POST /v1/suppressions/check, an extension).
   * @param params the recipients
   * @param options of this call
   * @throws {UrtuuError} `invalid_request` with the refused entries in `invalid`; `not_found`, `method_not_allowed`: the
   * service does not offer it ...
   */
  async check(params: SuppressionsCheckParams, options?: CallOptions): Promise<SuppressionsCheck> {
    const call = checkCall('/suppressions/check', params, hasReasons, options);
    return this.#request({ ...call, extension: { name: 'suppressions' } });
  }
}
