import { countsOf } from '../job/counts.js';
import type { JobState } from '../job/job-state.js';
import type { JobEntry, RequestEntry } from '../job/journal/entries.js';
import type { Journal } from '../job/journal/journal.js';
import { type BareEvent, EventQueue } from './events.js';

/** Records entries in the journal and then in the job state, and emits events. */
export class Recorder {
  readonly events = new EventQueue();
  readonly #journal: Journal;
  readonly #state: JobState;
  /** Recipients of requests in flight: in doubt after a crash, but shown as pending. */
  readonly #inFlight = new Map<number, number>();

  constructor(journal: Journal, state: JobState) {
    this.#journal = journal;
    this.#state = state;
  }

  /** Resolves when the entries are durable and applied. */
  async record(...entries: RequestEntry[]): Promise<void> {
    await this.#journal.append(...entries);
    for (const entry of entries) {
      this.#state.apply(entry);
      if (entry.type === 'send') this.#inFlight.set(entry.request, entry.recipients);
      else this.#inFlight.delete(entry.request);
    }
  }

  async recordOfJob(entry: JobEntry): Promise<void> {
    await this.#journal.append(entry);
    this.#state.apply(entry);
  }

  /** From now on the request is also shown as in doubt. */
  markInDoubt(request: number): void {
    this.#inFlight.delete(request);
  }

  emit(event: BareEvent): void {
    const { credits, balance, open } = this.#state;
    let inFlight = 0;
    for (const recipients of this.#inFlight.values()) inFlight += recipients;
    this.events.push({
      ...event,
      counts: countsOf(this.#state, inFlight),
      open,
      credits,
      balance,
    });
  }
}
