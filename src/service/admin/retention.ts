import type { Clock } from '../clock.js';
import type { OperationContext } from '../operations/context.js';
import type { Report } from '../report.js';
import type { Store } from '../storage/store.js';
import type { Prune } from './prune.js';

/** Milliseconds until the first check whether a run is due, between checks, and between runs. */
const firstLook = 60_000;
const lookEvery = 3_600_000;
const runEvery = 23 * 3_600_000;
/** Milliseconds without a run after which the clock may be wrong. Then only the run after this one erases. */
const longestIdle = 30 * 86_400_000;

export interface RetentionParts {
  store: Pick<Store, 'listProjects' | 'held' | 'beginPruneRun' | 'endPruneRun'>;
  prune: Pick<Prune, 'pruneOld' | 'pruneAnswers'>;
  readProject: OperationContext['readProject'];
  clock: Clock;
  report: Report;
}

/**
 * Once a day, erases everything older than the `retention_days` of its project; one of the listening instances does
 * so.
 */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #closing = new AbortController();
  #isBegun = false;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#look(firstLook);
  }

  async end(): Promise<void> {
    this.#closing.abort();
    this.#cancel();
    await this.#running;
  }

  #look(milliseconds: number): void {
    if (this.#closing.signal.aborted) return;
    this.#cancel = this.#parts.clock.after(milliseconds, () => {
      this.#running = this.#run()
        .catch((error) => {
          if (!this.#closing.signal.aborted) this.#parts.report(error, { level: 'warning' });
        })
        .then(() => this.#look(lookEvery));
    });
  }

  async #run(): Promise<void> {
    const { store, prune, readProject } = this.#parts;
    const { signal } = this.#closing;
    // Restored old data may still be needed.
    if ((await store.held()) !== null) return;
    const run = await store.beginPruneRun(runEvery);
    if (run === null) return;
    const limits = (await store.listProjects()).flatMap((record) => {
      const days = readProject(record).settings.retention_days;
      return days === null ? [] : [[record.id, days * 86_400_000] as const];
    });
    const idleMs = run.idleMs ?? 0;
    const mayBeWrong = limits.length > 0 && idleMs > longestIdle;
    const { messages } = mayBeWrong ? { messages: 0 } : await prune.pruneOld(new Map(limits), signal);
    if (messages > 0 || run.isRepeated) await prune.pruneAnswers(signal);
    await store.endPruneRun();
    if (mayBeWrong) throw new Error(lateRun(idleMs));
  }
}

const lateRun = (idleMs: number) =>
  `the last run was ${Math.floor(idleMs / 86_400_000)} days ago, or the clock is wrong: messages older than retention_days will be erased in a day`;
