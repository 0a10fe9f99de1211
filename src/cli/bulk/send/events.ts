import type { Tally } from '../job/job-state.js';

interface EventFigures {
  tally: Tally;
  /** Of the accepted, those of which it is known that they were sent. */
  sent: number;
  /** Requests that have no final answer yet. */
  open: number;
  credits: number;
  balance: number | null;
}

/** What happens in a job, for whoever displays it. Every event carries the figures after it. */
export type BulkEvent = EventFigures &
  (
    | { type: 'started'; resumed: boolean }
    | { type: 'accepted' | 'alarm' | 'rejected' | 'failed'; request: number; detail: string }
    /** Refused entries were taken out of a batch, which goes on without them. */
    | { type: 'removed'; request: number; entries: number }
    /** A request waits before it is sent again. */
    | { type: 'waiting'; request: number; why: string; milliseconds: number }
    /** A request was given up for now; the same command goes on with it. */
    | { type: 'left'; request: number; why: string }
    /** Nothing new is sent from here on; what is in flight is finished. */
    | { type: 'stopping'; why: string }
    /** Everything is sent that can be; only the ends of what was accepted are waited for. */
    | { type: 'awaiting' }
    /** Of an accepted request more messages are sent or failed, but not all. */
    | { type: 'moved'; request: number }
    /** An accepted request reached its end at the operator. */
    | { type: 'final'; request: number }
  );

type Bare<Event> = Event extends unknown ? Omit<Event, keyof EventFigures> : never;
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
