import type { JobEntry, RequestEntry } from '../job/entries.js';
import type { JobState } from '../job/job-state.js';
import type { Journal } from '../job/journal.js';
import { type BareEvent, EventQueue } from './events.js';

/** Records entries in the journal and then in the job state, and emits events. */
export class Recorder {
  readonly events = new EventQueue();
  /** Sent messages of batches without their final figures. */
  sentSoFar = 0;
  readonly #journal: Journal;
  readonly #state: JobState;
  /** Recipients of requests in flight: in doubt after a crash, but not on the screen. */
  readonly #inFlight = new Map<number, number>();

  constructor(journal: Journal, state: JobState) {
    this.#journal = journal;
    this.#state = state;
  }

  /** Resolves when the entries are durable and applied. */
  async record(entry: RequestEntry, ...more: RequestEntry[]): Promise<void> {
    await this.#journal.append(entry, ...more);
    for (const each of [entry, ...more]) this.#state.apply(each);
    if (entry.type === 'send') this.#inFlight.set(entry.request, entry.recipients);
    else this.#inFlight.delete(entry.request);
  }

  async recordOfJob(entry: JobEntry): Promise<void> {
    await this.#journal.append(entry);
    this.#state.apply(entry);
  }

  /** From here on the request is in doubt on the screen too. */
  markInDoubt(request: number): void {
    this.#inFlight.delete(request);
  }

  emit(event: BareEvent): void {
    const { tally, credits, balance } = this.#state;
    let inFlight = 0;
    for (const recipients of this.#inFlight.values()) inFlight += recipients;
    this.events.push({
      ...event,
      tally: { ...tally, in_doubt: tally.in_doubt - inFlight, pending: tally.pending + inFlight },
      sent: this.#state.sent + this.sentSoFar,
      open: this.#state.open,
      credits,
      balance,
    });
  }
}
