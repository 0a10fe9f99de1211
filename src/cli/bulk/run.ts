import { setMaxListeners } from 'node:events';
import { type Attempt, backoff, learnBalance, settledBy, startAttempt, timeLeft } from './attempt.js';
import { Budget } from './budget.js';
import type { BulkEvent } from './events.js';
import { stoppedBy } from './outcome.js';
import type { Chunk } from './plan.js';
import { Progress } from './progress.js';
import { type ChunkRequest, sendOnce, unlessAborted } from './requests.js';
import type { Ending, RunOptions } from './run-options.js';
import { SetAside } from './set-aside.js';
import { type Answer, next, type Step } from './states.js';
import { type Waited, Watch } from './wait.js';

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

class Runner {
  readonly progress: Progress;
  readonly #options: RunOptions;
  readonly #halted = new AbortController();
  /** Single sends that wait for their recipient's cap to pass; `since` is when it was met first. */
  readonly #aside = new SetAside<{ chunk: number; since: number; due: number }>();
  readonly #budget: Budget;
  #lastAccepted = Number.NEGATIVE_INFINITY;
  #stopped: Ending['stopped'] = null;
  #watch: Watch | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
    // Every request in flight may listen to it, and stops listening when it ends.
    setMaxListeners(0, this.#halted.signal);
    this.progress = new Progress(options.journal, options.table);
    this.#budget = new Budget(options.table, options.maxCredits);
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
      this.#watch = await this.#openWatch();
      const watching = this.#watch?.run() ?? null;
      watching?.catch((error) => this.#fail(error));
      if (retryFailed) await this.#reviseFailed();
      const chunks = this.#openChunks();
      await Promise.all(Array.from({ length: concurrency }, () => this.#work(chunks)));
      await chunks.return();
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
    await Promise.all(failed.map((chunk) => this.progress.record(['revised', chunk, table.revision(chunk)])));
  }

  async *#openChunks(): AsyncGenerator<Chunk, void> {
    const { plan, table } = this.#options;
    for await (const chunk of plan.chunks(table.firstOpen())) if (table.isOpen(chunk.number)) yield chunk;
  }

  async #work(chunks: AsyncGenerator<Chunk, void>): Promise<void> {
    try {
      while (this.#stopped === null) {
        const due = this.#aside.take(this.#options.now());
        const chunk = due === null ? (await chunks.next()).value : await this.#chunk(due.chunk);
        if (chunk) {
          await this.#settle(chunk, due?.since ?? null);
          this.#budget.release(chunk);
        } else {
          const waiting = this.#aside.next;
          if (waiting === null) return;
          await this.#sleep(waiting.due - this.#options.now());
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #chunk(number: number): Promise<Chunk | undefined> {
    for await (const chunk of this.#options.plan.chunks(number)) return chunk;
    return undefined;
  }

  /** Sends a chunk until an answer settles it, its time is up, or the job stops. */
  async #settle(chunk: Chunk, since: number | null): Promise<void> {
    const { jobId, table, journal } = this.#options;
    const { number } = chunk;
    let attempt = startAttempt(jobId, chunk, table, { since });
    while (await this.#mayGoOn(number, attempt.since)) {
      attempt.doubtful = table.phase(number) === 'doubt';
      if (!attempt.doubtful) {
        if (!this.#budget.take(chunk)) return this.halt({ by: 'limit' });
        await this.progress.record(['send', number, table.revision(number), attempt.request.to.length]);
      }
      if (journal.fault !== null) throw journal.fault;
      const answer = await this.#send(attempt.request);
      if (answer === null || answer.kind === 'doubt') this.progress.doubt(number);
      if (answer === null) return;
      attempt.tries += 1;
      const step = next(attempt.sent, answer);
      learnBalance(attempt, table, answer);
      if (!(await this.#follow(attempt, step))) return;
      if (step.to === 'removed') attempt = startAttempt(jobId, chunk, table);
      if (step.to === 'revised') {
        attempt = startAttempt(jobId, chunk, table, { foreign: attempt.sent.foreign + 1 });
      }
    }
  }

  /** Waits for a token; false when the chunk is settled or nothing more is to be sent. */
  async #mayGoOn(chunk: number, since: number | null): Promise<boolean> {
    const { pace, stop, table, maxWait, now } = this.#options;
    for (;;) {
      // Without credits nothing new can be sent, but a doubt can still be settled with its own key.
      const signal = this.#maySettleDoubt(chunk) ? stop : this.#halted.signal;
      if (signal?.aborted || !table.isOpen(chunk)) return false;
      const taken = await pace.take('sending', signal, timeLeft(since, maxWait, now()));
      if (this.#stopped !== null && !this.#maySettleDoubt(chunk)) return false;
      if (taken) return true;
      if (signal?.aborted) continue;
      this.halt({ by: 'service', code: 'rate_limited', status: 429 });
      return false;
    }
  }

  #maySettleDoubt(chunk: number): boolean {
    const { table, stop } = this.#options;
    const outOfCredits = this.#stopped?.by === 'service' && this.#stopped.code === 'insufficient_credits';
    return outOfCredits && table.phase(chunk) === 'doubt' && !stop?.aborted;
  }

  /** Null when the answer was not waited for. */
  async #send(request: ChunkRequest): Promise<Answer | null> {
    const { client, plan, abandon } = this.#options;
    const answer = await unlessAborted(() => sendOnce(client, plan.meta.channel, request), abandon);
    if (answer?.kind !== 'refusal' || answer.code !== 'insufficient_credits') return answer;
    return { ...answer, actual: await this.#readBalance() };
  }

  async #readBalance(): Promise<number | null> {
    const { client, pace, stop } = this.#options;
    try {
      return (await pace.take('reading', stop, this.#options.maxWait))
        ? (await client.balance.get()).balance
        : null;
    } catch {
      // Without it the refusal is taken at its word.
      return null;
    }
  }

  /** Records a step and does what it asks; true when the chunk is to be sent again now. */
  async #follow(attempt: Attempt, step: Step): Promise<boolean> {
    const { number } = attempt.chunk;
    const revision = this.#options.table.revision(number);
    const settled = settledBy(attempt, revision, step);
    if (settled !== null) {
      await this.progress.record(settled.entry);
      if (step.to === 'accepted') {
        this.#lastAccepted = this.#options.now();
        this.#budget.learn(attempt.chunk, step.credits);
        this.#watch?.add(number, step.id, attempt.chunk.kind);
      }
      this.progress.emit(settled.event);
      return false;
    }
    switch (step.to) {
      case 'removed': {
        const indexes = step.positions.map((position) => attempt.request.indexes[position] ?? 0);
        await this.progress.record(['removed', number, revision, indexes]);
        this.progress.emit({ type: 'removed', chunk: number, entries: indexes.length });
        return true;
      }
      case 'revised':
        await this.progress.record(['revised', number, revision]);
        return true;
      case 'again':
        return this.#backOff(attempt, step.code, null);
      case 'repeat':
        await this.progress.record(['refused', number, revision, 'insufficient_credits']);
        return this.#backOff(attempt, 'insufficient_credits', 402);
      case 'wait':
        return this.#wait(attempt, step);
      case 'stop':
        return this.#stopAt(attempt, step.code, step.status);
      default:
        return false;
    }
  }

  async #wait(attempt: Attempt, step: Extract<Step, { to: 'wait' }>): Promise<boolean> {
    const { now, maxWait, pace, table } = this.#options;
    const { number } = attempt.chunk;
    const milliseconds =
      step.seconds === null ? backoff(attempt.tries, this.#options.random()) : step.seconds * 1_000;
    attempt.since ??= now();
    const inTime = now() + milliseconds - attempt.since <= maxWait;
    if (step.for === 'project') {
      if (!inTime) return this.#stopAt(attempt, 'rate_limited', 429);
      // Refused before anybody looked at the key: an earlier doubt stays what it was.
      if (attempt.tries === 1)
        await this.progress.record(['refused', number, table.revision(number), 'rate_limited']);
      pace.block('sending', milliseconds);
      this.progress.emit({ type: 'waiting', chunk: number, why: 'rate_limited', milliseconds });
      return true;
    }
    await this.progress.record(['refused', number, table.revision(number), 'recipient_rate_limited']);
    if (inTime) {
      this.#aside.put({ chunk: number, since: attempt.since, due: now() + milliseconds });
      this.progress.emit({ type: 'waiting', chunk: number, why: 'recipient_rate_limited', milliseconds });
    } else {
      this.progress.emit({ type: 'left', chunk: number, why: 'recipient_rate_limited' });
    }
    return false;
  }

  /** Waits before the same key is tried again; false when its time is up. */
  async #backOff(attempt: Attempt, code: string, status: number | null): Promise<boolean> {
    const { now, maxWait } = this.#options;
    const { number } = attempt.chunk;
    const milliseconds = backoff(attempt.tries, this.#options.random());
    attempt.since ??= now();
    const enoughTries = attempt.tries >= (maxWait === 0 ? 1 : 3);
    if (enoughTries && now() + milliseconds - attempt.since > maxWait) {
      this.progress.emit({ type: 'left', chunk: number, why: code });
      // When others were accepted meanwhile it is this request; when none was, the service is away.
      if (this.#lastAccepted < attempt.since) this.halt({ by: 'service', code, status });
      return false;
    }
    this.progress.emit({ type: 'waiting', chunk: number, why: code, milliseconds });
    await this.#sleep(milliseconds);
    return true;
  }

  async #stopAt(attempt: Attempt, code: string, status: number): Promise<boolean> {
    const { number } = attempt.chunk;
    const certain = code !== 'rate_limited' && status !== 401 && status !== 403;
    if (certain || !attempt.doubtful) {
      await this.progress.record(['refused', number, this.#options.table.revision(number), code]);
    }
    this.progress.emit({ type: 'left', chunk: number, why: code });
    this.halt({ by: 'service', code, status });
    return false;
  }

  #sleep(milliseconds: number): Promise<void> {
    const signal = this.#stopped === null ? this.#halted.signal : this.#options.stop;
    return this.#options.sleep(Math.max(0, milliseconds), signal);
  }
}
