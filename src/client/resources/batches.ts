import type { Batch, MessagePage, PageOptions } from '../../contract/index.js';
import { readRecord } from '../options.js';
import { isBatch, isPage } from '../proof.js';
import { type RequestSender, readCall, segment } from '../request.js';

export class Batches {
  readonly #request: RequestSender;

  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Reads a batch and its progress (GET /v1/batches/{id}).
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string): Promise<Batch> {
    return this.#request(readCall(`/batches/${segment(id)}`, isBatch));
  }

  /**
   * Reads one page of a batch's messages, oldest first (GET /v1/batches/{id}/messages). An extension.
   * @throws {UrtuuError} `not_found`, also when the service lacks the extension ...
   */
  async messages(id: string, page: PageOptions = {}): Promise<MessagePage> {
    const { limit, after } = readRecord(page, ['limit', 'after']);
    const query = new URLSearchParams();
    if (limit !== undefined) query.set('limit', String(limit));
    if (after !== undefined) query.set('after', String(after));
    const suffix = query.size === 0 ? '' : `?${query}`;
    return this.#request(readCall(`/batches/${segment(id)}/messages${suffix}`, isPage));
  }
}
