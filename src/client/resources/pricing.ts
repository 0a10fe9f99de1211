import type { Pricing } from '../../contract/index.js';
import { readCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import { hasPrices } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/** Prices: `client.pricing`. */
export class PricingReader {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Reads the project's prices, in credits (GET /v1/pricing).
   * @param options of this call
   * @throws {UrtuuError} `unauthorized` ...
   */
  async get(options?: CallOptions): Promise<Pricing> {
    return this.#request(readCall('/pricing', hasPrices, options));
  }
}
