import type { Clock } from '../clock.js';
import { pollEvery } from './next-poll.js';

/** The longest pause after failed polls, in milliseconds. */
const longestPause = 10_000;

interface PollLoopParts {
  clock: Clock;
  report: (error: unknown) => void;
  /** Returns the milliseconds until the next poll; null if none is needed. */
  poll(): Promise<number | null>;
  /** Called when the loop becomes idle. */
  onRest(): void;
}

/**
 * Polls for work, one poll at a time: when it is woken, when the last poll says so, and ever later while polls fail.
 */
export class PollLoop {
  readonly #parts: PollLoopParts;
  isRunning = false;
  isStopped = true;
  #again = false;
  #failures = 0;
  #cancel: () => void = () => {};

  constructor(parts: PollLoopParts) {
    this.#parts = parts;
  }

  /** From now on it can be woken. */
  start(): void {
    this.isStopped = false;
    this.#again = false;
    this.#failures = 0;
  }

  /** Starts no further poll; one may still be running. */
  stop(): void {
    this.isStopped = true;
    this.#cancel();
  }

  /** Polls now, or while polls fail, when the next one is due. */
  wake(): void {
    if (this.#failures === 0) this.pollNow();
  }

  /** Called during a poll, it polls once more afterwards. */
  pollNow(): void {
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
        wait = await this.#parts.poll();
      }
      if (wait !== null) this.#pollIn(Math.max(Math.min(wait, pollEvery), 10));
      this.#failures = 0;
    } catch (error) {
      // The store is busy or the disk is full: nothing was lost, and the next poll tries again.
      this.#parts.report(error);
      this.#again = false;
      this.#pollIn(Math.min(pollEvery * 2 ** this.#failures, longestPause));
      this.#failures += 1;
    } finally {
      this.isRunning = false;
      this.#parts.onRest();
      if (this.#again && !this.isStopped) void this.#run();
    }
  }

  #pollIn(milliseconds: number): void {
    this.#cancel();
    if (this.isStopped) return;
    this.#cancel = this.#parts.clock.after(milliseconds, () => this.pollNow());
  }
}
