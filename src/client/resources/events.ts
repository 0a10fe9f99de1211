import { type EventPage, type EventQuery, longestEventWait, type UrtuuEvent } from '../../contract/index.js';
import { queryOf } from '../arguments.js';
import { readCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import type { System } from '../system.js';
import { isFeed } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/** Milliseconds between two calls to which nothing is new: a service with many listeners lets some of them not wait. */
const shortestPause = 2_000;

/**
 * Milliseconds until the next call, after one that asked for what is after `after`, and took so many.
 * @internal
 */
export const pauseAfter = ({ data, next }: EventPage, after: string | undefined, took: number): number =>
  data.length > 0 || next !== after ? 0 : Math.max(0, shortestPause - took);

/** What happens in the project: `client.events`. */
export class Events {
  readonly #request: RequestSender;
  readonly #system: System;

  /** @internal */
  constructor(request: RequestSender, system: System) {
    this.#request = request;
    this.#system = system;
  }

  /**
   * Reads a page of events, oldest first (GET /v1/events, an extension). The project's first call begins to record
   * them, for 7 days each.
   * @param query after which event, of which types
   * @param options of this call; its `timeout` begins after the wait
   * @throws {UrtuuError} `cursor_expired`: events after `after` are gone; `not_found`, `method_not_allowed`: the service
   * does not offer events ...
   */
  async list(query: EventQuery = {}, options?: CallOptions): Promise<EventPage> {
    const { types, ...page } = query;
    const given = { ...page, types: Array.isArray(types) ? types.join(',') : types };
    const call = readCall(`/events${queryOf(given, ['after', 'types', 'limit', 'wait'])}`, isFeed, options);
    return this.#request({
      ...call,
      extension: { name: 'events', statuses: [404, 405] },
      serviceWaits: page.wait ? 1_000 * longestEventWait : 0,
    });
  }

  /**
   * Events as they happen, without an end: each at least once, in order. Keep the `id` of the last one that you have
   * dealt with, and begin after it the next time.
   *
   * ```ts
   * for await (const event of client.events.listen({ after: last })) last = event.id;
   * ```
   * @param query after which event, of which types
   * @param options of each call
   * @throws {UrtuuError} as `list` does, after its retries
   */
  async *listen(
    query: Omit<EventQuery, 'wait'> = {},
    options?: CallOptions,
  ): AsyncGenerator<UrtuuEvent, void, undefined> {
    const asked = { ...query, wait: longestEventWait };
    for (;;) {
      const began = this.#system.elapsed();
      const page = await this.list(asked, options);
      yield* page.data;
      const pause = pauseAfter(page, asked.after, this.#system.elapsed() - began);
      asked.after = page.next;
      if (pause > 0) await this.#system.sleep(pause, options?.signal ?? null);
    }
  }
}
