import type { Message } from '../../contract/index.js';
import { hasStatus } from '../proof.js';
import { type RequestSender, readCall, segment } from '../request.js';

export class Messages {
  readonly #request: RequestSender;

  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Reads a message and its status: `queued`, `sent` or `failed` (GET /v1/messages/{id}).
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string): Promise<Message> {
    return this.#request(readCall(`/messages/${segment(id)}`, hasStatus));
  }
}
