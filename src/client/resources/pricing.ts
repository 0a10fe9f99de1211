import type { Pricing } from '../../contract/index.js';
import { hasPrices } from '../proof.js';
import { type Request, readCall } from '../request.js';

export class PricingReader {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Reads the price list, in credits (GET /v1/pricing). */
  async get(): Promise<Pricing> {
    return this.#request(readCall('/pricing', hasPrices));
  }
}
