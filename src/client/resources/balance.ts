import type { Balance } from '../../contract/index.js';
import { readCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import { hasBalance } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/** Credits: `client.balance`. */
export class BalanceReader {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Reads the project's balance, in credits (GET /v1/balance).
   * @param options of this call
   * @throws {UrtuuError} `unauthorized` ...
   */
  async get(options?: CallOptions): Promise<Balance> {
    return this.#request(readCall('/balance', hasBalance, options));
  }
}
