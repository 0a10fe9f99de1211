import type { Tally } from './chunk-table.js';

/** What happens in a job, for whoever displays it. Every event carries the figures after it. */
export type BulkEvent = { tally: Tally; credits: number; balance: number | null } & (
  | { type: 'started'; resumed: boolean }
  | { type: 'accepted' | 'alarm' | 'rejected' | 'failed'; chunk: number; detail: string }
  /** Refused entries were taken out of a batch, which goes on without them. */
  | { type: 'removed'; chunk: number; entries: number }
  /** A request waits before it is sent again. */
  | { type: 'waiting'; chunk: number; why: string; milliseconds: number }
  /** A request was given up for now; the same command goes on with it. */
  | { type: 'left'; chunk: number; why: string }
  /** Nothing new is sent from here on; what is in flight is finished. */
  | { type: 'stopping'; why: string }
  /** An accepted chunk reached its end at the operator. */
  | { type: 'final'; chunk: number; sent: number; failed: number }
);

type Bare<Event> = Event extends unknown ? Omit<Event, 'tally' | 'credits' | 'balance'> : never;
export type BareEvent = Bare<BulkEvent>;

/** Events wait here for a slow reader; the work does not. */
export class EventQueue {
  #waiting: BulkEvent[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  push(event: BulkEvent): void {
    this.#waiting.push(event);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BulkEvent, void> {
    for (;;) {
      const ready = this.#waiting;
      this.#waiting = [];
      yield* ready;
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
