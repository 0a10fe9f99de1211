import { createHash } from 'node:crypto';
import type { AppendFile, Disk } from './disk.js';
import type { Chunk } from './plan.js';

/**
 * What the journal remembers; every entry but the first and the last names a chunk and its revision.
 * The chunk's members never change, so positions in it (`index`) stay true for ever.
 */
export type Entry =
  | ['job', id: string, digest: string]
  /** About to be sent, with so many recipients in its body. */
  | ['send', chunk: number, revision: number, recipients: number]
  | ['accepted', chunk: number, revision: number, id: string, credits: number, kind: Chunk['kind']]
  /** Answered by something that is not for what was asked; needs a person. */
  | ['alarm', chunk: number, revision: number, reason: string]
  /** The service refused the rest of the chunk for good. */
  | ['rejected', chunk: number, revision: number, code: string]
  /** Entries that were refused and taken out; the chunk goes on as the next revision. */
  | ['removed', chunk: number, revision: number, indexes: number[]]
  /** The refusal was bound to the key, or failed sends are to be tried anew: goes on as the next revision. */
  | ['revised', chunk: number, revision: number]
  | ['failed', chunk: number, revision: number, code: string, id: string | null]
  /** Not sent, and free to be sent later with the same key. */
  | ['refused', chunk: number, revision: number, code: string]
  /** What became of an accepted chunk: messages sent and failed. */
  | ['final', chunk: number, sent: number, failed: number, errorCode: string | null]
  /** A run ended: when, with which exit code, and the balance last seen. */
  | ['end', at: string, exit: number, balance: number | null];

/** The journal cannot be read: a line in its middle is broken. */
export class BrokenJournalError extends Error {
  constructor(path: string, line: number) {
    super(`${path}:${line}: the journal is broken in its middle`);
    this.name = 'BrokenJournalError';
  }
}

/**
 * An append-only file of checksummed lines. A line is one group commit, an array of entries, so that a crash
 * can only tear the last line, and a torn line holds nothing that anybody has acted on.
 */
export class Journal {
  readonly path: string;
  readonly #file: AppendFile;
  #queue: { entry: Entry; done: () => void; failed: (error: unknown) => void }[] = [];
  #flushing: Promise<void> | null = null;
  #fault: Error | null = null;

  private constructor(path: string, file: AppendFile) {
    this.path = path;
    this.#file = file;
  }

  /** Reads what is there, hands each entry over, cuts off a torn end, and is then ready for more. */
  static async open(disk: Disk, path: string, onEntry: (entry: Entry) => void): Promise<Journal> {
    const file = await disk.openAppend(path);
    try {
      const { whole, size } = await readEntries(file.read(), path, onEntry);
      if (whole < size) {
        await file.truncate(whole);
        await file.sync();
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Journal(path, file);
  }

  /** The first write error; from then on nothing can be appended, and nothing may be sent. */
  get fault(): Error | null {
    return this.#fault;
  }

  /** Resolves when the entry is on the disk. Entries that wait together share one write and one sync. */
  append(entry: Entry): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return new Promise((done, failed) => {
      this.#queue.push({ entry, done, failed });
      this.#flushing ??= this.#flush();
    });
  }

  /** Hands over every entry again, from the beginning. */
  async replay(onEntry: (entry: Entry) => void): Promise<void> {
    await this.#flushing;
    await readEntries(this.#file.read(), this.path, onEntry);
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    // Lets every entry of this turn join the first group.
    await null;
    while (this.#queue.length > 0) {
      const group = this.#queue;
      this.#queue = [];
      try {
        if (this.#fault !== null) throw this.#fault;
        await this.#file.append(Buffer.from(lineOf(group.map(({ entry }) => entry))));
        await this.#file.sync();
        for (const { done } of group) done();
      } catch (error) {
        this.#fault ??= error instanceof Error ? error : new Error(String(error));
        for (const { failed } of group) failed(this.#fault);
      }
    }
    // In the same turn as the look at the queue: an entry that comes later starts the next flush.
    this.#flushing = null;
  }
}

/** Reads a journal that another process may be writing: its torn end is passed over and left alone. */
export async function readEntries(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  onEntry: (entry: Entry) => void,
): Promise<{ whole: number; size: number }> {
  let rest = Buffer.alloc(0);
  let whole = 0;
  let size = 0;
  let lines = 0;
  let broken = 0;
  for await (const piece of bytes) {
    size += piece.length;
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
      if (broken > 0) throw new BrokenJournalError(path, broken);
      lines += 1;
      const entries = entriesOf(rest.toString('utf8', start, end));
      if (entries === null) {
        broken = lines;
      } else {
        entries.forEach(onEntry);
        whole += end + 1 - start;
      }
      start = end + 1;
    }
    rest = rest.subarray(start);
  }
  if (broken > 0 && rest.length > 0) throw new BrokenJournalError(path, broken);
  return { whole, size };
}

function lineOf(entries: readonly Entry[]): string {
  const text = JSON.stringify(entries);
  return `${checksum(text)} ${text}\n`;
}

function entriesOf(line: string): Entry[] | null {
  const text = line.slice(17);
  return line[16] === ' ' && line.slice(0, 16) === checksum(text) ? JSON.parse(text) : null;
}

export function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
