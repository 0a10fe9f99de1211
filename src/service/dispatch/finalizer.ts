import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { AnswerOf, ClaimedMessage, Finalized, Outcome, Postponement, Store } from '../storage/store.js';
import { grouped } from './grouped.js';

/** The result of a submission, as the store gets it; `claimed` has its last mark. */
export type Disposition =
  | { kind: 'final'; claimed: ClaimedMessage; outcome: Outcome }
  | ({ kind: 'again' } & Postponement)
  | { kind: 'doubt'; claimed: ClaimedMessage; delayMs: number };

/** Milliseconds between tries to write, doubled each time. */
const [firstPause, longestPause] = [1_000, 10_000];

/** Writes the results of submissions, again and again until they are written or fenced. */
export class Finalizer {
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #write: (
    disposition: Disposition,
    resolve: (finalized: Finalized | null) => void,
    reject: (error: unknown) => void,
  ) => void;
  /** By their length. */
  readonly #pauses = new Map<number, { over: Promise<void>; resume(): void }>();
  #isStopped = false;

  constructor(store: Store, answer: AnswerOf, clock: Clock, report: Report) {
    this.#clock = clock;
    this.#report = report;
    const finalizeAll = (all: readonly Of<'final'>[]) => store.finalizeMessages(all, answer);
    // Apart: a single send would wait for the rows of a batch.
    const finalize = { single: grouped(finalizeAll), batch: grouped(finalizeAll) };
    const postpone = grouped(async (all: readonly Of<'again'>[]) => {
      await store.postponeMessages(all);
      return all.map(() => null);
    });
    const leaveInDoubt = grouped(async (all: readonly Of<'doubt'>[]) => {
      await store.leaveInDoubt(all);
      return all.map(() => null);
    });
    this.#write = (disposition, resolve, reject) => {
      if (disposition.kind === 'final')
        finalize[disposition.claimed.message.batchId === null ? 'single' : 'batch'](
          disposition,
          resolve,
          reject,
        );
      else if (disposition.kind === 'again') postpone(disposition, resolve, reject);
      else leaveInDoubt(disposition, resolve, reject);
    };
  }

  /** `onEnd`: null for a message that has not ended here. `onDelay` is called when the first try fails. */
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
      // Its lease ends, and whoever looks into the doubt decides.
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

  /** From now on everything is tried once more. */
  stop(): void {
    this.#isStopped = true;
    for (const { resume } of [...this.#pauses.values()]) resume();
  }

  /** One for all that pause as long: they are tried again together, as one group. */
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
