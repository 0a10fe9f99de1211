import { setMaxListeners } from 'node:events';
import type { Batch, Channel, Message } from '../../../contract/index.js';
import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import type { JobState } from '../job/job-state.js';
import type { Journal } from '../job/journal.js';
import type { PlannedRequest } from '../plan/plan.js';
import { readError } from '../send/answer.js';
import { SetAside } from '../send/due-queue.js';
import type { Progress } from '../send/recorder.js';
import { unlessAborted } from '../send/send-once.js';

/** What waiting needs of the client. */
export interface ReadingClient {
  batches: { get(id: string): Promise<Batch> };
  messages: { get(id: string): Promise<Message> };
}

export interface WatchOptions {
  channel: Channel;
  journal: Journal;
  client: ReadingClient;
  pace: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  table: Pick<JobState, 'recipients' | 'revision'>;
  /** Calls `run` after so many milliseconds; the returned function cancels that. */
  after(milliseconds: number, run: () => void): () => void;
  /** How long to wait once everything is sent, in milliseconds. */
  timeout: number;
  /** Aborted: nothing is asked any more. */
  stop: AbortSignal;
}

/** How waiting ended: all is final, some is not yet, or the service refuses to be asked. */
export type Waited = { final: boolean; refused: { code: string; status: number } | null };

interface Watched {
  request: number;
  id: string;
  kind: PlannedRequest['kind'];
  /** When it is worth asking again, and when it was asked last; milliseconds by `now`. */
  due: number;
  asked: number;
  pause: number;
  /** Of its messages, what the last answer said. */
  sent: number;
  failed: number;
}

/** What one look at a batch or message tells. */
interface Look {
  sent: number;
  failed: number;
  total: number;
  /** Nothing of it will change any more. */
  completed: boolean;
  code: string | null;
  /** How long it took the service, in milliseconds, where it says so. */
  took: number | null;
}

const mostAtOnce = 10;
const shortestPause = 500;
const longestPause = 15_000;

/**
 * Asks for what was accepted until every message is sent or failed: batches, and single emails. A single SMS
 * is with the operator when it is accepted. It asks while others are still being sent, since reading has its
 * own allowance; the longest due first, and each as seldom as its own progress allows. What is final is
 * recorded, and never asked for again.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #progress: Progress;
  readonly #waiting = new SetAside<Watched>();
  /** How long the service has lately taken for one. */
  #usual = shortestPause;
  #left = 0;
  #closed = false;
  /** Aborted when nothing is asked or waited for any more. */
  readonly #over = new AbortController();
  #cancelTimeout = () => {};
  #refused: Waited['refused'] = null;
  #fault: { error: unknown } | null = null;
  #wake = () => {};

  constructor(options: WatchOptions, progress: Progress) {
    this.#options = options;
    // Every look under way listens to it.
    setMaxListeners(0, this.#over.signal);
    this.#progress = progress;
  }

  /** Watches what earlier runs left. */
  async resume(): Promise<void> {
    const { journal, channel } = this.#options;
    const open = new Map<number, [id: string, kind: PlannedRequest['kind']]>();
    await journal.replay((entry) => {
      if (entry[0] === 'accepted') open.set(entry[1], [entry[3], entry[5]]);
      if (entry[0] === 'final' || entry[0] === 'alarm') open.delete(entry[1]);
    });
    for (const [request, [id, kind]] of open) {
      if (kind === 'batch' || channel === 'email') this.#put(request, id, kind, 0);
    }
  }

  /** Watches a request that was accepted just now. */
  add(request: number, id: string, kind: PlannedRequest['kind']): void {
    if (kind === 'batch' || this.#options.channel === 'email') this.#put(request, id, kind, this.#usual);
  }

  #put(request: number, id: string, kind: PlannedRequest['kind'], first: number): void {
    const now = this.#options.now();
    const asked = now;
    this.#left += 1;
    this.#waiting.put({
      request,
      id,
      kind,
      due: now + first,
      asked,
      pause: shortestPause,
      sent: 0,
      failed: 0,
    });
    this.#wake();
  }

  /** Nothing more will be accepted: from now on the timeout runs. */
  close(): void {
    this.#closed = true;
    this.#cancelTimeout = this.#options.after(this.#options.timeout, () => this.#end());
    this.#wake();
  }

  #end(): void {
    this.#over.abort();
    this.#wake();
  }

  /** Rejects when what is final cannot be recorded. */
  async run(): Promise<Waited> {
    const { now, pace, stop } = this.#options;
    const onStop = () => this.#end();
    stop.addEventListener('abort', onStop);
    if (stop.aborted) onStop();
    const looks = new Set<Promise<void>>();
    while (!this.#isOver()) {
      const full = looks.size >= mostAtOnce;
      const each = full ? null : this.#waiting.take(now());
      if (each === null) {
        await this.#idle(full);
        continue;
      }
      if (!(await pace.take('reading', this.#over.signal))) break;
      const look = this.#look(each).finally(() => {
        looks.delete(look);
        this.#wake();
      });
      looks.add(look);
    }
    await Promise.all(looks);
    stop.removeEventListener('abort', onStop);
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
    const until = full ? Number.POSITIVE_INFINITY : (this.#waiting.next?.due ?? Number.POSITIVE_INFINITY);
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

  async #look(each: Watched): Promise<void> {
    try {
      const seen = await unlessAborted(() => read(this.#options.client, each), this.#over.signal);
      // What is on its way when the time is over may come after the journal was closed.
      if (seen === null || this.#over.signal.aborted) return;
      const total = Math.max(seen.total, this.#options.table.recipients(each.request));
      if (seen.completed || seen.sent + seen.failed >= total) await this.#finish(each, seen);
      else this.#later(each, seen);
    } catch (error) {
      this.#misread(each, error);
    }
  }

  async #finish(each: Watched, seen: Look): Promise<void> {
    const { sent, failed, code, took } = seen;
    const { table } = this.#options;
    const recipients = table.recipients(each.request);
    const figures = `batch ${each.id} ended with ${sent} sent and ${failed} failed of ${recipients}`;
    const tooMany = sent + failed > recipients;
    // More than were sent to: these figures are about something else, and prove nothing.
    if (tooMany) await this.#progress.record(['alarm', each.request, table.revision(each.request), figures]);
    else await this.#progress.record(['final', each.request, sent, failed, code]);
    if (sent + failed !== recipients) {
      this.#progress.emit({ type: 'alarm', request: each.request, detail: figures });
    }
    this.#left -= 1;
    if (took !== null) this.#usual = within(this.#usual + (took - this.#usual) / 5);
    this.#progress.underway -= each.sent;
    this.#progress.emit({ type: 'final', request: each.request });
  }

  /** As fast as it went since the last look it will go on; where nothing moved, it is asked ever less often. */
  #later(each: Watched, { sent, failed, total }: Look): void {
    const now = this.#options.now();
    const moved = sent + failed - each.sent - each.failed;
    const rest = total - sent - failed;
    each.pause = within(moved > 0 ? ((now - each.asked) * rest) / moved : each.pause * 1.5);
    this.#progress.underway += sent - each.sent;
    Object.assign(each, { sent, failed, asked: now, due: now + each.pause });
    this.#waiting.put(each);
    if (moved > 0) this.#progress.emit({ type: 'moved', request: each.request });
  }

  #misread(each: Watched, error: unknown): void {
    try {
      const answer = readError(error);
      if (answer.kind === 'refusal' && answer.status !== 429) {
        this.#refused ??= { code: answer.code, status: answer.status };
      } else if (answer.kind === 'refusal') {
        this.#options.pace.block('reading', (answer.retryAfter ?? 1) * 1_000);
      }
      each.pause = within(each.pause * 1.5);
      each.due = this.#options.now() + each.pause;
      this.#waiting.put(each);
    } catch (fault) {
      this.#fault ??= { error: fault };
    }
  }
}

const within = (pause: number) => Math.min(Math.max(pause, shortestPause), longestPause);

async function read(client: ReadingClient, { kind, id }: Watched): Promise<Look> {
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

/** As the client has it for an answer that is not the service's: to be asked again. */
const notAnAnswer = () =>
  Object.assign(new Error('a batch without figures'), { code: 'unexpected_response', status: null });
