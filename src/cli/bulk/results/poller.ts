import { setMaxListeners } from 'node:events';
import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import { type BatchClient, BatchMessages } from '../../reader/batch-messages.js';
import { Reader, readOnce } from '../../reader/reader.js';
import { unlessAborted } from '../../time/unless-aborted.js';
import type { JobState } from '../job/job-state.js';
import type { PlanFigures, PlanMeta, PlannedRequest } from '../plan/plan.js';
import { DueQueue } from '../send/due-queue.js';
import type { Waited } from '../send/ending.js';
import type { Recorder } from '../send/recorder.js';
import type { OutcomePoller } from '../send/run.js';
import { storedReceipt, suppressedIn } from './match-messages.js';
import { type OutcomeClient, type Reading, readFigures } from './reading.js';
import { type ListingClient, SingleSms } from './single-messages.js';

export interface PollerOptions {
  plan: { meta: PlanFigures & Pick<PlanMeta, 'created_at'> };
  state: Pick<JobState, 'in' | 'idOf' | 'kindOf' | 'finalOf' | 'bodySize' | 'revision'>;
  client: OutcomeClient & ListingClient & BatchClient;
  rateLimiter: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to poll once everything is sent, in milliseconds. */
  timeout: number;
  /** Reads each batch and message once, final or not. */
  once?: boolean;
}

interface Polled {
  request: number;
  id: string;
  kind: PlannedRequest['kind'];
  /** When to read it next, and when it was last read; milliseconds by `now`. */
  due: number;
  readAt: number;
  pause: number;
  /** Messages sent or failed at the last read. */
  done: number;
}

const mostAtOnce = 10;
const shortestPause = 500;
const longestPause = 15_000;

/**
 * Polls accepted batches and single emails until every message is sent or failed, even while others are being sent,
 * because reads have their own rate limit. The most overdue is read first, each as rarely as its progress allows. A
 * single SMS counts as sent when it is accepted; once all are, it finds those that may not have arrived. The figures
 * are recorded.
 */
export class Poller implements OutcomePoller {
  readonly #options: PollerOptions;
  readonly #recorder: Recorder;
  readonly #queue = new DueQueue<Polled>();
  readonly #singleSms: SingleSms;
  readonly #ofBatch: BatchMessages;
  /** How long the service has recently taken for one. */
  #usualPause = shortestPause;
  #left = 0;
  #closed = false;
  /** Aborted when it stops reading and waiting. */
  readonly #over = new AbortController();
  readonly #halted: AbortSignal;
  #cancelTimeout = () => {};
  #refused: string | null = null;
  #fault: { error: unknown } | null = null;
  #wake = () => {};

  constructor(options: PollerOptions, { recorder, halted }: { recorder: Recorder; halted: AbortSignal }) {
    this.#options = options;
    const { channel, created_at: begun } = options.plan.meta;
    this.#singleSms = new SingleSms(options.client, { channel, begun, ended: null });
    this.#ofBatch = new BatchMessages(options.client, new Reader({ ...options, stop: this.#over.signal }));
    this.#recorder = recorder;
    this.#halted = halted;
    // All reads in flight listen to it.
    setMaxListeners(0, this.#over.signal);
  }

  async resume(): Promise<void> {
    const { state } = this.#options;
    for (const request of state.in('accepted')) {
      const final = state.finalOf(request);
      if (final === null || (final.unknown ?? 0) > 0)
        this.#add(request, state.idOf(request), state.kindOf(request), 0);
    }
  }

  add(request: number, id: string, kind: PlannedRequest['kind']): void {
    this.#add(request, id, kind, this.#usualPause);
  }

  #add(request: number, id: string, kind: PlannedRequest['kind'], firstPause: number): void {
    this.#left += 1;
    if (kind === 'batch' || this.#options.plan.meta.channel === 'email')
      this.#put({ request, id, kind }, firstPause);
    else this.#singleSms.add(id, request);
  }

  #put(polled: Pick<Polled, 'request' | 'id' | 'kind'>, firstPause: number): void {
    const now = this.#options.now();
    this.#queue.put({ ...polled, due: now + firstPause, readAt: now, pause: shortestPause, done: 0 });
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimeout = this.#options.after(this.#options.timeout, () => this.#end());
    this.#wake();
  }

  #end(): void {
    this.#over.abort();
    this.#wake();
  }

  async run(): Promise<Waited> {
    const { now, rateLimiter } = this.#options;
    const onHalt = () => this.#end();
    this.#halted.addEventListener('abort', onHalt);
    if (this.#halted.aborted) onHalt();
    const inFlight = new Set<Promise<void>>();
    let singleSms: Promise<void> | null = null;
    while (!this.#isOver()) {
      if (this.#closed) singleSms ??= this.#finishSingleSms();
      const full = inFlight.size >= mostAtOnce;
      const polled = full ? null : this.#queue.take(now());
      if (polled === null) {
        await this.#idle(full);
        continue;
      }
      if (!(await rateLimiter.take('reading', this.#over.signal))) break;
      const poll = this.#poll(polled).finally(() => {
        inFlight.delete(poll);
        this.#wake();
      });
      inFlight.add(poll);
    }
    await Promise.all([...inFlight, singleSms]);
    this.#halted.removeEventListener('abort', onHalt);
    this.#cancelTimeout();
    if (this.#fault !== null) throw this.#fault.error;
    return { final: this.#left === 0 && this.#closed, refused: this.#refused };
  }

  #isOver(): boolean {
    if (this.#over.signal.aborted || this.#refused !== null || this.#fault !== null) return true;
    return this.#closed && this.#left === 0;
  }

  /** Waits until something is due, or something else has changed. */
  async #idle(full: boolean): Promise<void> {
    const { now, sleep } = this.#options;
    const until = full ? Number.POSITIVE_INFINITY : (this.#queue.next?.due ?? Number.POSITIVE_INFINITY);
    const nap = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = () => {
        nap.abort();
        resolve();
      };
    });
    await (until === Number.POSITIVE_INFINITY ? woken : sleep(Math.max(0, until - now()), nap.signal));
    this.#wake = () => {};
  }

  async #poll(polled: Polled): Promise<void> {
    const { client, state, now, rateLimiter } = this.#options;
    try {
      const read = () => readOnce(() => readFigures(client, polled));
      const reply = await unlessAborted(read, this.#over.signal);
      // A read in flight at the end may return after the journal was closed.
      if (reply === null || this.#over.signal.aborted) return;
      if ('value' in reply) {
        const { value } = reply;
        const total = Math.max(value.total, state.bodySize(polled.request));
        const isFinal = value.completed || value.sent + value.failed >= total;
        return await (isFinal ? this.#finish(polled, value) : this.#pollLater(polled, value));
      }
      if (!reply.isTemporary) this.#refused ??= reply.code;
      else if (reply.status === 429) rateLimiter.block('reading', reply.retryAfter ?? 1_000);
      const pause = within(polled.pause * 1.5);
      this.#queue.put({ ...polled, pause, due: now() + pause });
    } catch (fault) {
      this.#fault ??= { error: fault };
    }
  }

  async #finish({ request, id, kind }: Polled, reading: Reading): Promise<void> {
    const { state } = this.#options;
    const { sent, failed, unknown, code, took } = reading;
    const recipients = state.bodySize(request);
    const reason = `batch ${id} ended with ${sent} sent and ${failed} failed of ${recipients}`;
    const isTooMany = sent + failed > recipients;
    const suppressed = kind === 'batch' && failed > 0 && !isTooMany ? await this.#suppressedIn(id) : null;
    if (this.#over.signal.aborted) return;
    // Figures of more messages than were sent belong to something else, and prove nothing.
    if (isTooMany)
      await this.#recorder.record({ type: 'alarm', request, revision: state.revision(request), reason });
    else await this.#recorder.record({ type: 'final', request, sent, failed, code, unknown, suppressed });
    if (sent + failed !== recipients) this.#recorder.emit({ type: 'alarm', request, detail: reason });
    this.#left -= 1;
    if (took !== null) this.#usualPause = within(this.#usualPause + (took - this.#usualPause) / 5);
    this.#recorder.emit({ type: 'final', request });
  }

  /** Null if none of its messages is suppressed, or the service does not list them: they count as failed then. */
  async #suppressedIn(id: string): Promise<number | null> {
    const listed = await this.#ofBatch.of(id);
    return 'messages' in listed
      ? suppressedIn(listed.messages.map((message) => storedReceipt(message, 0))) || null
      : null;
  }

  /** Follows the speed of its progress since the last read; without progress, polls less and less often. */
  async #pollLater(polled: Polled, { sent, failed, unknown, total }: Reading): Promise<void> {
    const now = this.#options.now();
    const { request } = polled;
    const done = sent + failed;
    const rest = total - sent - failed;
    const progress = done - polled.done;
    polled.pause = within(progress > 0 ? ((now - polled.readAt) * rest) / progress : polled.pause * 1.5);
    if (progress > 0) {
      await this.#recorder.record({ type: 'progress', request, sent, failed, unknown });
      this.#recorder.emit({ type: 'progressed', request });
    }
    if (this.#options.once) this.#left -= 1;
    else this.#queue.put({ ...polled, done, readAt: now, due: now + polled.pause });
  }

  async #finishSingleSms(): Promise<void> {
    try {
      while (this.#singleSms.size > 0 && !this.#isOver()) {
        const reader = new Reader({ ...this.#options, stop: this.#over.signal });
        const unread = await this.#singleSms.finish(reader, async (entries) => {
          if (this.#over.signal.aborted) return;
          await this.#recorder.record(...entries);
          this.#left -= entries.length;
          for (const { request } of entries) this.#recorder.emit({ type: 'final', request });
        });
        if (unread !== null && unread.status !== null) this.#refused ??= unread.code;
      }
    } catch (fault) {
      this.#fault ??= { error: fault };
    }
    this.#wake();
  }
}

const within = (pause: number) => Math.min(Math.max(pause, shortestPause), longestPause);
