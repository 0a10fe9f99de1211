import type { JobState } from '../job/job-state.js';
import type { JobEntry, Journal, RequestEntry } from '../job/journal.js';
import { type BareEvent, EventQueue } from './events.js';

/** The journal and the table moved together, and the events that tell of it. */
export class Progress {
  readonly events = new EventQueue();
  /** Messages sent of batches that have not reached their end. */
  underway = 0;
  readonly #journal: Journal;
  readonly #table: JobState;
  /** Recipients of requests whose first answer is awaited: in doubt after a crash, but not on the screen. */
  readonly #awaited = new Map<number, number>();

  constructor(journal: Journal, table: JobState) {
    this.#journal = journal;
    this.#table = table;
  }

  /** Resolves when the entry, and what goes with it, is durable and counted. */
  async record(entry: RequestEntry, ...more: RequestEntry[]): Promise<void> {
    await this.#journal.append(entry, ...more);
    for (const each of [entry, ...more]) this.#table.apply(each);
    if (entry[0] === 'send') this.#awaited.set(entry[1], entry[3]);
    else this.#awaited.delete(entry[1]);
  }

  /** The same for an entry about the whole job. */
  async recordOfJob(entry: JobEntry): Promise<void> {
    await this.#journal.append(entry);
    this.#table.apply(entry);
  }

  /** The request's outcome is doubtful from here on. */
  doubt(request: number): void {
    this.#awaited.delete(request);
  }

  emit(event: BareEvent): void {
    const { tally, credits, balance } = this.#table;
    let awaited = 0;
    for (const recipients of this.#awaited.values()) awaited += recipients;
    this.events.push({
      ...event,
      tally: { ...tally, in_doubt: tally.in_doubt - awaited, pending: tally.pending + awaited },
      sent: this.#table.sent + this.underway,
      open: this.#table.open,
      credits,
      balance,
    });
  }
}
