import { setMaxListeners } from 'node:events';
import type { PlannedRequest } from '../plan/plan.js';
import { DueQueue } from './due-queue.js';
import {
  cancelled,
  type Ending,
  isOutOfMoney,
  type StopReason,
  stopReasonOf,
  type Waited,
} from './ending.js';
import type { BulkEvent } from './events.js';
import { Recorder } from './recorder.js';
import { RequestSender } from './request-sender.js';
import type { OutcomePoller, Run, RunOptions } from './run.js';
import { SpendLimit } from './spend-limit.js';

/**
 * Sends the open requests of a job: the journal has the intent before a request is sent, and the answer before anything
 * follows from it.
 */
export async function* runJob(options: RunOptions): AsyncGenerator<BulkEvent, Ending> {
  const runner = new Runner(options);
  const ending = runner.run();
  try {
    yield* runner.recorder.events;
  } finally {
    // If the reader stops, requests in flight are finished, as after a signal.
    runner.halt({ by: 'signal' });
    await ending;
  }
  return ending;
}

/** In milliseconds; prices are not worth all of `--max-wait`. */
const longestPriceWait = 30_000;

class Runner implements Run {
  readonly recorder: Recorder;
  readonly spendLimit: SpendLimit;
  lastAccepted = Number.NEGATIVE_INFINITY;
  readonly #options: RunOptions;
  readonly #halted = new AbortController();
  /** Single sends over their recipient's cap; `since` is their first attempt. */
  readonly #postponed = new DueQueue<{ request: number; since: number; due: number }>();
  readonly #sender: RequestSender;
  #stopped: StopReason | null = null;
  #poller: OutcomePoller | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
    // All requests in flight may listen to it.
    setMaxListeners(0, this.#halted.signal);
    this.recorder = new Recorder(options.journal, options.state);
    this.spendLimit = new SpendLimit(options.state, options.plan.meta.channel);
    this.#sender = new RequestSender(options, this);
  }

  async run(): Promise<Ending> {
    const { stop, abandon, plan, state, concurrency } = this.#options;
    const onStop = () => this.halt({ by: stop?.reason === cancelled ? 'cancel' : 'signal' });
    for (const signal of [stop, abandon]) {
      signal?.addEventListener('abort', onStop);
      if (signal?.aborted) onStop();
    }
    let waited: Waited | null = null;
    try {
      this.recorder.emit({ type: 'started', resumed: state.counts.pending < plan.meta.recipients });
      await this.#openSpendLimit();
      this.#poller = await this.#openPoller();
      const polling = this.#poller?.run() ?? null;
      polling?.catch((error) => this.#fail(error));
      const requests = this.#openRequests();
      await Promise.all(Array.from({ length: concurrency }, () => this.#work(requests)));
      await requests.return();
      if (this.#poller !== null && this.#stopped === null) {
        this.recorder.emit({ type: 'polling' });
        this.#poller.close();
      }
      waited = await polling;
    } catch (error) {
      this.#fail(error);
    } finally {
      for (const signal of [stop, abandon]) signal?.removeEventListener('abort', onStop);
      this.recorder.events.close();
    }
    return { stopped: this.#stopped, waited };
  }

  async #openPoller(): Promise<OutcomePoller | null> {
    const poller = this.#options.openPoller?.(this) ?? null;
    // Before anything is sent, because requests accepted from now on are added separately.
    if (!this.#options.state.final) await poller?.resume();
    return poller;
  }

  /** The job keeps the limit. A request in doubt may have been charged. */
  async #openSpendLimit(): Promise<void> {
    const { maxCredits, state, plan } = this.#options;
    if (maxCredits !== undefined && maxCredits !== state.limit) {
      await this.recorder.recordOfJob({ type: 'limit', credits: maxCredits });
    }
    if (!this.spendLimit.isLimited || state.finished) return;
    await this.readPrices();
    const last = state.last('doubt');
    if (last === -1) return;
    for await (const request of plan.requests(state.firstOpen())) {
      if (request.number > last) return;
      if (state.phase(request.number) === 'doubt')
        this.spendLimit.reserve(request, state.removed(request.number).size);
    }
  }

  /** Prices may change; if they cannot be read, the known ones stay. */
  async readPrices(): Promise<void> {
    const { client, rateLimiter, maxWait } = this.#options;
    try {
      const wait = Math.min(maxWait, longestPriceWait);
      const isAllowed = await rateLimiter.take('reading', this.#halted.signal, wait);
      const prices = isAllowed ? await client.pricing?.get() : null;
      this.spendLimit.setPrices(prices ?? null);
    } catch {
      this.spendLimit.setPrices(null);
    }
  }

  get stopped(): StopReason | null {
    return this.#stopped;
  }

  get halted(): AbortSignal {
    return this.#halted.signal;
  }

  accepted({ number, kind }: PlannedRequest, id: string): void {
    this.lastAccepted = this.#options.now();
    this.#poller?.add(number, id, kind);
  }

  postpone(request: { request: number; since: number; due: number }): void {
    this.#postponed.put(request);
  }

  halt(reason: StopReason): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    this.#halted.abort();
    this.recorder.emit({ type: 'stopping', why: reason.by === 'service' ? reason.code : reason.by });
  }

  #fail(error: unknown): void {
    this.halt(stopReasonOf(error, this.#options.journal.fault));
  }

  /** Without credits for anything new, only requests in doubt, which can be resolved with their keys. */
  async *#openRequests(): AsyncGenerator<PlannedRequest, void> {
    const { plan, state } = this.#options;
    let last = state.requests;
    for await (const request of plan.requests(state.firstOpen())) {
      if (this.#stopped !== null && last === state.requests) last = state.last('doubt');
      if (request.number > last) return;
      const isWanted =
        this.#stopped === null ? state.isOpen(request.number) : state.phase(request.number) === 'doubt';
      if (isWanted) yield request;
    }
  }

  async #work(requests: AsyncGenerator<PlannedRequest, void>): Promise<void> {
    const { stop, now } = this.#options;
    try {
      while (this.#stopped === null || (isOutOfMoney(this.#stopped) && !stop?.aborted)) {
        const due = this.#stopped === null ? this.#postponed.take(now()) : null;
        const request = due === null ? (await requests.next()).value : await this.#request(due.request);
        if (request) {
          await this.#sender.send(request, due?.since ?? null);
          this.spendLimit.release(request);
        } else {
          const waiting = this.#postponed.next;
          if (waiting === null || this.#stopped !== null) return;
          await this.#sleep(waiting.due - now());
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #request(number: number): Promise<PlannedRequest | undefined> {
    for await (const request of this.#options.plan.requests(number)) return request;
    return undefined;
  }

  #sleep(milliseconds: number): Promise<void> {
    return this.#options.sleep(Math.max(0, milliseconds), this.#halted.signal);
  }
}
