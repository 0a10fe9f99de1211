import type { AppendFile, Disk } from './append-file.js';
import { checkedLine } from './checked-line.js';
import { type Entry, encodeEntry } from './entries.js';
import { readEntries } from './journal-reader.js';

/**
 * An append-only file of checksummed lines. Each line is one group commit, an array of entries, so a crash can only
 * tear the last line, and nothing was sent after a torn line.
 */
export class Journal {
  readonly path: string;
  readonly #file: AppendFile;
  #queue: { entries: readonly Entry[]; done: () => void; failed: (error: unknown) => void }[] = [];
  #flushing: Promise<void> | null = null;
  #fault: Error | null = null;

  private constructor(path: string, file: AppendFile) {
    this.path = path;
    this.#file = file;
  }

  /** Reads all entries, and cuts off a torn end. */
  static async open(disk: Disk, path: string, onEntry: (entry: Entry) => void): Promise<Journal> {
    const file = await disk.openAppend(path);
    try {
      const { whole, size, ended } = await readEntries(file.read(), path, onEntry);
      if (whole < size) {
        await file.truncate(whole);
        if (!ended) await file.append(Buffer.from('\n'));
        await file.sync();
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Journal(path, file);
  }

  /** The first write error: after it, nothing can be appended, and nothing may be sent. */
  get fault(): Error | null {
    return this.#fault;
  }

  /**
   * Resolves when the entries are on the disk: all of them, or none after a crash. Waiting entries share one write and
   * one sync.
   */
  append(...entries: Entry[]): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return new Promise((done, failed) => {
      this.#queue.push({ entries, done, failed });
      this.#flushing ??= this.#flush();
    });
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    // Entries appended in the same tick join the first group.
    await null;
    while (this.#queue.length > 0) {
      const group = this.#queue;
      this.#queue = [];
      try {
        if (this.#fault !== null) throw this.#fault;
        await this.#file.append(
          Buffer.from(checkedLine(group.flatMap(({ entries }) => entries.map(encodeEntry)))),
        );
        await this.#file.sync();
        for (const { done } of group) done();
      } catch (error) {
        this.#fault ??= error instanceof Error ? error : new Error(String(error));
        for (const { failed } of group) failed(this.#fault);
      }
    }
    // In the same tick as the check of the queue, so a later entry starts the next flush.
    this.#flushing = null;
  }
}
