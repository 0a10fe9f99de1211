import type { Balance } from '../../contract/index.js';
import { hasBalance } from '../proof.js';
import { type RequestSender, readCall } from '../request.js';

export class BalanceReader {
  readonly #request: RequestSender;

  constructor(request: RequestSender) {
    this.#request = request;
  }

  /** Reads the project's balance, in credits (GET /v1/balance). */
  async get(): Promise<Balance> {
    return this.#request(readCall('/balance', hasBalance));
  }
}
