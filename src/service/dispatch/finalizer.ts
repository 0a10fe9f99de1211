import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { AnswerOf, ClaimedMessage, Finalized, Outcome, Postponement, Store } from '../storage/store.js';
import { coalesced } from './coalesced.js';

/** The result of a submission, for the store; `claimed` has its last mark. */
export type Disposition =
  | { kind: 'final'; claimed: ClaimedMessage; outcome: Outcome }
  | ({ kind: 'again' } & Postponement)
  | { kind: 'doubt'; claimed: ClaimedMessage; delayMs: number };

/** The shortest and longest milliseconds between attempts to write; they double each time. */
const firstPause = 1_000;
const longestPause = 10_000;

/** Writes the results of submissions, repeatedly until they are written or fenced. */
export class Finalizer {
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #write: (
    disposition: Disposition,
    resolve: (finalized: Finalized | null) => void,
    reject: (error: unknown) => void,
  ) => void;
  /** Pauses by length. */
  readonly #pauses = new Map<number, { over: Promise<void>; resume(): void }>();
  #isStopped = false;

  constructor(store: Store, answer: AnswerOf, clock: Clock, report: Report) {
    this.#clock = clock;
    this.#report = report;
    const finalizeAll = (all: readonly Of<'final'>[]) => store.finalizeMessages(all, answer);
    // Two, so that a single send does not wait for the rows of a batch.
    const finalizeSingle = coalesced(finalizeAll);
    const finalizeOfBatch = coalesced(finalizeAll);
    const postpone = coalesced(async (all: readonly Of<'again'>[]) => {
      await store.postponeMessages(all);
      return all.map(() => null);
    });
    const leaveInDoubt = coalesced(async (all: readonly Of<'doubt'>[]) => {
      await store.leaveInDoubt(all);
      return all.map(() => null);
    });
    this.#write = (disposition, resolve, reject) => {
      switch (disposition.kind) {
        case 'final': {
          const isSingle = disposition.claimed.message.batchId === null;
          return (isSingle ? finalizeSingle : finalizeOfBatch)(disposition, resolve, reject);
        }
        case 'again':
          return postpone(disposition, resolve, reject);
        case 'doubt':
          return leaveInDoubt(disposition, resolve, reject);
      }
    };
  }

  /** `onEnd`: null for a message that is not finished here. `onDelay` is called if the first attempt fails. */
  write(disposition: Disposition, onDelay: () => void, onEnd: (finalized: Finalized | null) => void): void {
    this.#write(disposition, onEnd, (error) => {
      void this.#writeAgain(disposition, error, onDelay).then(onEnd);
    });
  }

  async #writeAgain(
    disposition: Disposition,
    firstError: unknown,
    onDelay: () => void,
  ): Promise<Finalized | null> {
    let error = firstError;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      this.#report(error);
      onDelay();
      // Its lease expires, and the process that resolves the doubt decides.
      if (this.#isStopped) return null;
      await this.#pause(pause);
      try {
        return await new Promise((resolve, reject) => this.#write(disposition, resolve, reject));
      } catch (next) {
        error = next;
      }
    }
  }

  start(): void {
    this.#isStopped = false;
  }

  /** From now on, everything is tried only once more. */
  stop(): void {
    this.#isStopped = true;
    for (const { resume } of [...this.#pauses.values()]) resume();
  }

  /** Shared by all pauses of the same length, so that they are retried together, as a group. */
  #pause(milliseconds: number): Promise<void> {
    const known = this.#pauses.get(milliseconds);
    if (known !== undefined) return known.over;
    let resume = () => {};
    const over = new Promise<void>((resolve) => {
      resume = () => {
        cancel();
        this.#pauses.delete(milliseconds);
        resolve();
      };
      const cancel = this.#clock.after(milliseconds, resume);
    });
    this.#pauses.set(milliseconds, { over, resume });
    return over;
  }
}

type Of<Kind> = Extract<Disposition, { kind: Kind }>;
