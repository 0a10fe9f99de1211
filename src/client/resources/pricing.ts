import type { Pricing } from '../../contract/index.js';
import { hasPrices } from '../proof.js';
import { type RequestSender, readCall } from '../request.js';

export class PricingReader {
  readonly #request: RequestSender;

  constructor(request: RequestSender) {
    this.#request = request;
  }

  /** Reads the project's prices, in credits (GET /v1/pricing). */
  async get(): Promise<Pricing> {
    return this.#request(readCall('/pricing', hasPrices));
  }
}
