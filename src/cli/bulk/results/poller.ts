import { setMaxListeners } from 'node:events';
import type { Batch, Channel, Message } from '../../../contract/index.js';
import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import { JobState, type PlanFigures } from '../job/job-state.js';
import type { JournalSource } from '../job/journal.js';
import type { PlannedRequest } from '../plan/plan.js';
import { readError } from '../send/answer.js';
import { DueQueue } from '../send/due-queue.js';
import type { Waited } from '../send/ending.js';
import type { Recorder } from '../send/recorder.js';
import type { OutcomePoller } from '../send/run.js';
import { unlessAborted } from '../send/unless-aborted.js';

export interface OutcomeClient {
  batches: { get(id: string): Promise<Batch> };
  messages: { get(id: string): Promise<Message> };
}

export interface PollerOptions {
  plan: { meta: PlanFigures };
  journal: JournalSource;
  state: Pick<JobState, 'recipients' | 'revision'>;
  client: OutcomeClient;
  rateLimiter: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` after so many milliseconds; the returned function cancels that. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to poll once everything is sent, in milliseconds. */
  timeout: number;
}

interface Polled {
  request: number;
  id: string;
  kind: PlannedRequest['kind'];
  /** When to read it next, and when it was read last; milliseconds by `now`. */
  due: number;
  readAt: number;
  pause: number;
  /** Messages by the last reading. */
  sent: number;
  failed: number;
}

/** The figures of a batch or message. */
interface Reading {
  sent: number;
  failed: number;
  total: number;
  /** Its figures will not change any more. */
  completed: boolean;
  code: string | null;
  /** How long the service took for it, in milliseconds, where it says so. */
  took: number | null;
}

const mostAtOnce = 10;
const shortestPause = 500;
const longestPause = 15_000;

/** A single SMS is with the operator when it is accepted. */
const isPolled = (kind: PlannedRequest['kind'], channel: Channel) => kind === 'batch' || channel === 'email';

/**
 * Polls accepted batches and single emails until every message is sent or failed, also while others are being sent:
 * reading has a rate limit of its own. The longest due comes first, each as seldom as its progress allows. Final
 * figures are recorded, and never read again.
 */
export class Poller implements OutcomePoller {
  readonly #options: PollerOptions;
  readonly #recorder: Recorder;
  readonly #queue = new DueQueue<Polled>();
  /** How long the service has lately taken for one. */
  #usualPause = shortestPause;
  #left = 0;
  #closed = false;
  /** Aborted when nothing is read or waited for any more. */
  readonly #over = new AbortController();
  readonly #halted: AbortSignal;
  #cancelTimeout = () => {};
  #refused: Waited['refused'] = null;
  #fault: { error: unknown } | null = null;
  #wake = () => {};

  constructor(options: PollerOptions, { recorder, halted }: { recorder: Recorder; halted: AbortSignal }) {
    this.#options = options;
    this.#recorder = recorder;
    this.#halted = halted;
    // Every reading in flight listens to it.
    setMaxListeners(0, this.#over.signal);
  }

  async resume(): Promise<void> {
    const { plan, journal } = this.#options;
    const { channel } = plan.meta;
    const state = await JobState.read(
      plan.meta,
      journal,
      ({ kind, final }) => kind !== null && isPolled(kind, channel) && final === null,
    );
    for (const [request, { id, kind }] of state.allDetails())
      if (kind !== null) this.#put(request, id, kind, 0);
  }

  add(request: number, id: string, kind: PlannedRequest['kind']): void {
    if (isPolled(kind, this.#options.plan.meta.channel)) this.#put(request, id, kind, this.#usualPause);
  }

  #put(request: number, id: string, kind: PlannedRequest['kind'], firstPause: number): void {
    const now = this.#options.now();
    const polled = { request, id, kind, due: now + firstPause, readAt: now };
    this.#left += 1;
    this.#queue.put({ ...polled, pause: shortestPause, sent: 0, failed: 0 });
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
    while (!this.#isOver()) {
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
    await Promise.all(inFlight);
    this.#halted.removeEventListener('abort', onHalt);
    this.#cancelTimeout();
    if (this.#fault !== null) throw this.#fault.error;
    return { final: this.#left === 0 && this.#closed, refused: this.#refused };
  }

  #isOver(): boolean {
    if (this.#over.signal.aborted || this.#refused !== null || this.#fault !== null) return true;
    return this.#closed && this.#left === 0;
  }

  /** Until something is due, or something else has changed. */
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
    try {
      const reading = await unlessAborted(() => read(this.#options.client, polled), this.#over.signal);
      // A reading in flight at the end may come after the journal was closed.
      if (reading === null || this.#over.signal.aborted) return;
      const total = Math.max(reading.total, this.#options.state.recipients(polled.request));
      if (reading.completed || reading.sent + reading.failed >= total) await this.#finish(polled, reading);
      else this.#pollLater(polled, reading);
    } catch (error) {
      this.#onError(polled, error);
    }
  }

  async #finish(polled: Polled, { sent, failed, code, took }: Reading): Promise<void> {
    const { request, id } = polled;
    const { state } = this.#options;
    const recipients = state.recipients(request);
    const reason = `batch ${id} ended with ${sent} sent and ${failed} failed of ${recipients}`;
    const isTooMany = sent + failed > recipients;
    // Figures of more messages than were sent are about something else, and prove nothing.
    if (isTooMany)
      await this.#recorder.record({ type: 'alarm', request, revision: state.revision(request), reason });
    else await this.#recorder.record({ type: 'final', request, sent, failed, code });
    if (sent + failed !== recipients) this.#recorder.emit({ type: 'alarm', request, detail: reason });
    this.#left -= 1;
    if (took !== null) this.#usualPause = within(this.#usualPause + (took - this.#usualPause) / 5);
    this.#recorder.sentSoFar -= polled.sent;
    this.#recorder.emit({ type: 'final', request });
  }

  /** At the speed of its progress since the last reading, or ever less often without any. */
  #pollLater(polled: Polled, { sent, failed, total }: Reading): void {
    const now = this.#options.now();
    const progress = sent + failed - polled.sent - polled.failed;
    const rest = total - sent - failed;
    polled.pause = within(progress > 0 ? ((now - polled.readAt) * rest) / progress : polled.pause * 1.5);
    this.#recorder.sentSoFar += sent - polled.sent;
    Object.assign(polled, { sent, failed, readAt: now, due: now + polled.pause });
    this.#queue.put(polled);
    if (progress > 0) this.#recorder.emit({ type: 'progressed', request: polled.request });
  }

  #onError(polled: Polled, error: unknown): void {
    try {
      const answer = readError(error);
      if (answer.kind === 'refusal' && answer.status !== 429) {
        this.#refused ??= { code: answer.code, status: answer.status };
      } else if (answer.kind === 'refusal') {
        this.#options.rateLimiter.block('reading', (answer.retryAfter ?? 1) * 1_000);
      }
      polled.pause = within(polled.pause * 1.5);
      polled.due = this.#options.now() + polled.pause;
      this.#queue.put(polled);
    } catch (fault) {
      this.#fault ??= { error: fault };
    }
  }
}

const within = (pause: number) => Math.min(Math.max(pause, shortestPause), longestPause);

async function read(client: OutcomeClient, { kind, id }: Polled): Promise<Reading> {
  if (kind === 'batch') {
    const { status, total, sent, failed, created_at, completed_at } = await client.batches.get(id);
    const took = completed_at ? Date.parse(completed_at) - Date.parse(created_at) : Number.NaN;
    const completed = status === 'completed';
    if (![total, sent, failed].every((figure) => Number.isInteger(figure) && figure >= 0))
      throw notAnAnswer();
    return { sent, failed, total, completed, code: null, took: Number.isNaN(took) ? null : took };
  }
  const { status, error } = await client.messages.get(id);
  const [sent, failed] = [Number(status === 'sent'), Number(status === 'failed')];
  return { sent, failed, total: 1, completed: false, code: error?.code ?? null, took: null };
}

/** Like the client's error for an answer that is not the service's: the batch is read again. */
const notAnAnswer = () =>
  Object.assign(new Error('a batch without figures'), { code: 'unexpected_response', status: null });
