import type { Clock } from '../clock.js';
import { lookEvery } from './looks.js';

/** The longest pause after failed looks, in milliseconds. */
const longestPause = 10_000;

interface LookLoopParts {
  clock: Clock;
  report: (error: unknown) => void;
  /** Returns the milliseconds until the next look; null if none is needed. */
  look(): Promise<number | null>;
  /** Called when the loop becomes idle. */
  onRest(): void;
}

/**
 * Looks for work, one look at a time: when it is woken, when the last look says so, and ever later while looks fail.
 */
export class LookLoop {
  readonly #parts: LookLoopParts;
  isRunning = false;
  isStopped = true;
  #again = false;
  #failures = 0;
  #cancel: () => void = () => {};

  constructor(parts: LookLoopParts) {
    this.#parts = parts;
  }

  /** From now on it can be woken. */
  start(): void {
    this.isStopped = false;
    this.#again = false;
    this.#failures = 0;
  }

  /** Starts no further look; one may still be running. */
  stop(): void {
    this.isStopped = true;
    this.#cancel();
  }

  /** Looks now, or while looks fail, when the next one is due. */
  wake(): void {
    if (this.#failures === 0) this.lookNow();
  }

  /** Called during a look, it looks once more afterwards. */
  lookNow(): void {
    if (this.isStopped) return;
    this.#again = true;
    if (!this.isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.isRunning = true;
    this.#cancel();
    try {
      let wait: number | null = null;
      while (this.#again && !this.isStopped) {
        this.#again = false;
        wait = await this.#parts.look();
      }
      if (wait !== null) this.#lookIn(Math.max(Math.min(wait, lookEvery), 10));
      this.#failures = 0;
    } catch (error) {
      // The store is busy or the disk is full: nothing was lost, and the next look tries again.
      this.#parts.report(error);
      this.#again = false;
      this.#lookIn(Math.min(lookEvery * 2 ** this.#failures, longestPause));
      this.#failures += 1;
    } finally {
      this.isRunning = false;
      this.#parts.onRest();
      if (this.#again && !this.isStopped) void this.#run();
    }
  }

  #lookIn(milliseconds: number): void {
    this.#cancel();
    if (this.isStopped) return;
    this.#cancel = this.#parts.clock.after(milliseconds, () => this.lookNow());
  }
}
