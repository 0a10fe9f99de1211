import type { Counts } from '../job/counts.js';
import type { MixUp } from './transitions.js';

interface EventFigures {
  counts: Counts;
  /** Requests without a final answer. */
  open: number;
  credits: number;
  balance: number | null;
}

/** Progress of a job. Every event has the figures after it. */
export type BulkEvent = EventFigures &
  (
    | { type: 'started'; resumed: boolean }
    | { type: 'accepted' | 'rejected' | 'failed'; request: number; detail: string }
    | { type: 'alarm'; request: number; detail: string; mixUp?: MixUp }
    /** Refused recipients were removed from a batch. */
    | { type: 'removed'; request: number; entries: number }
    /** A request waits before it is sent again. */
    | { type: 'waiting'; request: number; why: string; milliseconds: number }
    /** This run gave up a request; the next run resumes it. */
    | { type: 'given-up'; request: number; why: string }
    /** From now on nothing new is sent; requests in flight are finished. */
    | { type: 'stopping'; why: string }
    /** Everything is sent; only final figures are missing. */
    | { type: 'polling' }
    /** More messages of an accepted request are sent or failed, but not all. */
    | { type: 'progressed'; request: number }
    /** An accepted request has its final figures. */
    | { type: 'final'; request: number }
  );

type Bare<Event> = Event extends unknown ? Omit<Event, keyof EventFigures> : never;
export type BareEvent = Bare<BulkEvent>;

/** A queue of events, so that a slow reader does not slow down the work. */
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
