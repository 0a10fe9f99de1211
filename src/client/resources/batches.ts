import type { Batch, MessagePage } from '../../contract/index.js';
import { readRecord } from '../options.js';
import { isBatch, isPage } from '../proof.js';
import { type Request, readCall, segment } from '../request.js';

export interface PageOptions {
  /** Messages on the page, 1 to 1,000; 100 when absent. */
  limit?: number;
  /** The `next` of the page before. */
  after?: string;
}

export class Batches {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Reads the progress of a batch (GET /v1/batches/{id}). */
  async get(id: string): Promise<Batch> {
    return this.#request(readCall(`/batches/${segment(id)}`, isBatch));
  }

  /**
   * Reads one page of a batch's messages, oldest first (GET /v1/batches/{id}/messages). An extension: a service
   * that does not have it answers `not_found`.
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
