import { setMaxListeners } from 'node:events';
import { stoppedBy } from '../../commands/bulk/outcome.js';
import type { PlannedRequest } from '../plan/plan.js';
import { type Waited, Watch } from '../results/poller.js';
import { SetAside } from './due-queue.js';
import type { BulkEvent } from './events.js';
import { Progress } from './recorder.js';
import { type Host, isOutOfMoney, Settler } from './request-sender.js';
import type { Ending, RunOptions } from './run.js';
import { Budget } from './spend-limit.js';

/**
 * Sends what is open in a job, exactly once: the journal has the intent before a request goes out and the
 * answer before anything follows from it. Yields what happens and returns how it ended.
 */
export async function* runJob(options: RunOptions): AsyncGenerator<BulkEvent, Ending> {
  const runner = new Runner(options);
  const ending = runner.run();
  try {
    yield* runner.progress.events;
  } finally {
    // Nobody listens any more: what is in flight is finished, as after a signal.
    runner.halt({ by: 'signal' });
    await ending;
  }
  return ending;
}

/** Prices are worth a while, and not the whole of `--max-wait`; in milliseconds. */
const longestPriceWait = 30_000;

class Runner implements Host {
  readonly progress: Progress;
  readonly budget: Budget;
  lastAccepted = Number.NEGATIVE_INFINITY;
  readonly #options: RunOptions;
  readonly #halted = new AbortController();
  /** Single sends that wait for their recipient's cap to pass; `since` is when it was met first. */
  readonly #aside = new SetAside<{ request: number; since: number; due: number }>();
  readonly #settler: Settler;
  #stopped: Ending['stopped'] = null;
  #watch: Watch | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
    // Every request in flight may listen to it, and stops listening when it ends.
    setMaxListeners(0, this.#halted.signal);
    this.progress = new Progress(options.journal, options.table);
    this.budget = new Budget(options.table, options.plan.meta.channel);
    this.#settler = new Settler(options, this);
  }

  async run(): Promise<Ending> {
    const { stop, abandon, plan, table, concurrency, retryFailed } = this.#options;
    const onStop = () => this.halt({ by: 'signal' });
    for (const signal of [stop, abandon]) {
      signal?.addEventListener('abort', onStop);
      if (signal?.aborted) onStop();
    }
    let waited: Waited | null = null;
    try {
      this.progress.emit({ type: 'started', resumed: table.tally.pending < plan.meta.recipients });
      await this.#openBudget();
      this.#watch = await this.#openWatch();
      const watching = this.#watch?.run() ?? null;
      watching?.catch((error) => this.#fail(error));
      if (retryFailed) await this.#reviseFailed();
      const requests = this.#openRequests();
      await Promise.all(Array.from({ length: concurrency }, () => this.#work(requests)));
      await requests.return();
      if (this.#watch !== null && this.#stopped === null) {
        this.progress.emit({ type: 'awaiting' });
        this.#watch.close();
      }
      waited = await watching;
    } catch (error) {
      this.#fail(error);
    } finally {
      for (const signal of [stop, abandon]) signal?.removeEventListener('abort', onStop);
      this.progress.events.close();
    }
    return { stopped: this.#stopped, waited };
  }

  async #openWatch(): Promise<Watch | null> {
    const { wait, plan, table } = this.#options;
    if (wait === undefined) return null;
    const { channel } = plan.meta;
    const watch = new Watch({ ...this.#options, ...wait, channel, stop: this.#halted.signal }, this.progress);
    // Before anything is sent: what is accepted from here on is added as it comes.
    if (!table.final) await watch.resume();
    return watch;
  }

  /** The limit stays in the job. What is in doubt may have been charged, or be charged yet. */
  async #openBudget(): Promise<void> {
    const { maxCredits, table, plan, retryFailed } = this.#options;
    if (maxCredits !== undefined && maxCredits !== table.limit) {
      await this.progress.recordOfJob(['limit', maxCredits]);
    }
    const isDone = table.finished && !(retryFailed && table.has('failed'));
    if (!this.budget.isLimited || isDone) return;
    await this.readPrices();
    const last = table.last('doubt');
    if (last === -1) return;
    for await (const request of plan.requests(table.firstOpen())) {
      if (request.number > last) return;
      if (table.phase(request.number) === 'doubt')
        this.budget.hold(request, table.removed(request.number).size);
    }
  }

  /** Prices change; where they cannot be read, those that are known go on. */
  async readPrices(): Promise<void> {
    const { client, pace, maxWait } = this.#options;
    try {
      const read = await pace.take('reading', this.#halted.signal, Math.min(maxWait, longestPriceWait));
      this.budget.learnPrices((read && (await client.pricing?.get())) || null);
    } catch {
      this.budget.learnPrices(null);
    }
  }

  get stopped(): Ending['stopped'] {
    return this.#stopped;
  }

  get halted(): AbortSignal {
    return this.#halted.signal;
  }

  accepted({ number, kind }: PlannedRequest, id: string): void {
    this.lastAccepted = this.#options.now();
    this.#watch?.add(number, id, kind);
  }

  setAside(waiting: { request: number; since: number; due: number }): void {
    this.#aside.put(waiting);
  }

  /** Sends nothing new from here on; the first reason is the one that counts. */
  halt(reason: NonNullable<Ending['stopped']>): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    this.#halted.abort();
    this.progress.emit({ type: 'stopping', why: reason.by === 'service' ? reason.code : reason.by });
  }

  #fail(error: unknown): void {
    this.halt(stoppedBy(error, this.#options.journal.fault));
  }

  async #reviseFailed(): Promise<void> {
    const { table } = this.#options;
    const failed = [...table.in('failed')];
    await Promise.all(
      failed.map((request) => this.progress.record(['revised', request, table.revision(request)])),
    );
  }

  /** Once nothing can be paid for, only those in doubt: they are settled with the keys they have. */
  async *#openRequests(): AsyncGenerator<PlannedRequest, void> {
    const { plan, table } = this.#options;
    let last = table.requests;
    for await (const request of plan.requests(table.firstOpen())) {
      if (this.#stopped !== null && last === table.requests) last = table.last('doubt');
      if (request.number > last) return;
      const isWanted =
        this.#stopped === null ? table.isOpen(request.number) : table.phase(request.number) === 'doubt';
      if (isWanted) yield request;
    }
  }

  async #work(requests: AsyncGenerator<PlannedRequest, void>): Promise<void> {
    const { stop, now } = this.#options;
    try {
      while (this.#stopped === null || (isOutOfMoney(this.#stopped) && !stop?.aborted)) {
        const due = this.#stopped === null ? this.#aside.take(now()) : null;
        const request = due === null ? (await requests.next()).value : await this.#request(due.request);
        if (request) {
          await this.#settler.settle(request, due?.since ?? null);
          this.budget.release(request);
        } else {
          const waiting = this.#aside.next;
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
