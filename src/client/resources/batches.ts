import type { Batch, BatchFilter, Message, PageOptions } from '../../contract/index.js';
import { segment } from '../arguments.js';
import { newProgress, readCall } from '../call.js';
import { type CallOptions, readCallOptions, type WaitOptions } from '../call-options.js';
import { type List, listOf } from '../list.js';
import type { System } from '../system.js';
import { isBatch, isBatchState } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';
import { untilCompleted } from '../wait.js';

const defaultWait = 600_000;

/** Bulk sends: `client.batches`. */
export class Batches {
  readonly #request: RequestSender;
  readonly #system: System;

  /** @internal */
  constructor(request: RequestSender, system: System) {
    this.#request = request;
    this.#system = system;
  }

  /**
   * Reads a batch and its progress (GET /v1/batches/{id}).
   * @param id UUID of the batch
   * @param options of this call
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string, options?: CallOptions): Promise<Batch> {
    return this.#request(readCall(`/batches/${segment(id)}`, isBatch, options));
  }

  /**
   * Waits until a batch is `completed`: every message of it is sent or failed. Polls every 0.5 to 15 s, and continues
   * after a temporary failure (no answer, a 5xx, a rate limit) (GET /v1/batches/{id}).
   * @param id UUID of the batch
   * @param options here `timeout` limits the whole wait; default 600,000 ms
   * @throws {UrtuuError} `timeout`: the batch is not completed yet; waiting again is safe. `not_found` ...
   */
  async wait(id: string, options?: WaitOptions): Promise<Batch> {
    const path = `/batches/${segment(id)}`;
    const { timeout, signal, maxRetries } = readCallOptions(options);
    const progress = newProgress();
    const poll = (ending: AbortSignal): Promise<Batch> =>
      this.#request({
        ...readCall(path, isBatchState, undefined),
        settings: { signal: ending, timeout: null, maxRetries },
        progress,
      });
    return untilCompleted(poll, { timeout: timeout ?? defaultWait, signal, progress }, this.#system);
  }

  /**
   * Lists the messages of a batch, oldest first: `await` reads one page, `for await` all messages
   * (GET /v1/batches/{id}/messages, an extension).
   * @param id UUID of the batch
   * @param page which page; the first without one
   * @param options of each request
   * @throws {UrtuuError} `not_found`, also if the service lacks the extension ...
   */
  messages(id: string, page: PageOptions = {}, options?: CallOptions): List<Message> {
    return listOf(this.#request, {
      path: () => `/batches/${segment(id)}/messages`,
      fields: [],
      filter: page,
      options,
      extension: { name: 'the messages of a batch', statuses: [405] },
    });
  }

  /**
   * Lists batches, newest first: `await` reads one page, `for await` all batches (GET /v1/batches, an extension).
   * @param filter which batches, and which page; all batches without one
   * @param options of each request
   * @throws {UrtuuError} `invalid_request`: a malformed filter; `not_found`, `method_not_allowed`: the service does
   * not offer lists ...
   */
  list(filter: BatchFilter & PageOptions = {}, options?: CallOptions): List<Batch> {
    return listOf(this.#request, {
      path: () => '/batches',
      fields: ['channel', 'status', 'since', 'until'] satisfies (keyof BatchFilter)[],
      filter,
      options,
      extension: { name: 'lists of batches' },
    });
  }
}
