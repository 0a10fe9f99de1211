import { createHash } from 'node:crypto';
import type { PlannedRequest } from '../plan/plan.js';
import type { AppendFile, Disk } from './append-file.js';

/**
 * What the journal remembers: of the whole job, or of a request and its revision. A request's members never
 * change, so positions in it (`index`) stay true for ever.
 */
export type Entry = JobEntry | RequestEntry;

export type JobEntry =
  | ['job', id: string, digest: string]
  /** The most that the job may spend from here on; null for no limit. */
  | ['limit', credits: number | null]
  /** A further API key that the person said is of the same project, as a hash with the salt of the plan. */
  | ['account', hash: string]
  /** A run ended: when, with which exit code, and the balance last seen. */
  | ['end', at: string, exit: number, balance: number | null];

export type RequestEntry =
  /** About to be sent, with so many recipients in its body. */
  | ['send', request: number, revision: number, recipients: number]
  /** `replayOf`: not sent by this machine; an earlier request had this key, accepted at this time ('' unknown). */
  | [
      'accepted',
      request: number,
      revision: number,
      id: string,
      credits: number,
      kind: PlannedRequest['kind'],
      replayOf?: string,
    ]
  /** Answered by something that is not for what was asked; needs a person. */
  | ['alarm', request: number, revision: number, reason: string]
  /** The service refused the rest of the request for good. */
  | ['rejected', request: number, revision: number, code: string]
  /** Entries that were refused and taken out; the request goes on as the next revision. */
  | ['removed', request: number, revision: number, indexes: number[]]
  /** The refusal was bound to the key, or failed sends are to be tried anew: goes on as the next revision. */
  | ['revised', request: number, revision: number]
  | ['failed', request: number, revision: number, code: string, id: string | null]
  /**
   * Not sent, and free to be sent later with the same key: no copy under it is unanswered. Journals of earlier
   * releases have no number at the end; they say the same of what may have an unanswered copy.
   */
  | ['refused', request: number, revision: number, code: string, unanswered?: 0]
  /** Members of an accepted request that are not in its batch: they were not sent to under its key. */
  | ['absent', request: number, revision: number, indexes: number[]]
  /** Of an accepted request so many may not be in its batch, and the service does not say who. */
  | ['unsure', request: number, revision: number, recipients: number]
  /** What became of an accepted request: messages sent and failed. */
  | ['final', request: number, sent: number, failed: number, errorCode: string | null]
  /** Rows that another job has taken over, of a body with so many recipients: never sent by this job again. */
  | ['moved', request: number, revision: number, indexes: number[], recipients: number];

const kinds: Record<Entry[0], true> = {
  job: true,
  limit: true,
  account: true,
  end: true,
  send: true,
  accepted: true,
  alarm: true,
  rejected: true,
  removed: true,
  revised: true,
  failed: true,
  refused: true,
  final: true,
  moved: true,
  absent: true,
  unsure: true,
};

/** The journal cannot be read: a line of it is not as it was written. */
export class BrokenJournalError extends Error {
  constructor(path: string, line: number) {
    super(`${path}:${line}: the journal is not as it was written`);
    this.name = 'BrokenJournalError';
  }
}

/** The journal has an entry that this version does not know: what it means must not be guessed. */
export class NewerJournalError extends Error {
  constructor(path: string, line: number, kind: unknown) {
    super(`${path}:${line}: a newer version of urtuu wrote '${String(kind)}' here`);
    this.name = 'NewerJournalError';
  }
}

/**
 * An append-only file of checksummed lines. A line is one group commit, an array of entries, so that a crash
 * can only tear the last line, and a torn line holds nothing that anybody has acted on.
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

  /** Reads what is there, hands each entry over, cuts off a torn end, and is then ready for more. */
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

  /** The first write error; from then on nothing can be appended, and nothing may be sent. */
  get fault(): Error | null {
    return this.#fault;
  }

  /**
   * Resolves when the entries are on the disk: all, or after a crash none of them. Entries that wait together
   * share one write and one sync.
   */
  append(...entries: Entry[]): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return new Promise((done, failed) => {
      this.#queue.push({ entries, done, failed });
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
        await this.#file.append(Buffer.from(lineOf(group.flatMap(({ entries }) => entries))));
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

/**
 * Reads a journal that another process may be writing: its torn end is passed over and left alone. Torn is a
 * last line without a newline, or with zeros where a power cut left no data; nobody has acted on it. Anything
 * else that is not as it was written is refused, since somebody may have. `whole` is where the entries end,
 * and `ended` false when only the newline of the last one is wrong.
 */
export async function readEntries(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  onEntry: (entry: Entry) => void,
): Promise<{ whole: number; size: number; ended: boolean }> {
  let rest = Buffer.alloc(0);
  let whole = 0;
  let size = 0;
  let lines = 0;
  let torn = 0;
  const tell = (entries: readonly Entry[]) => {
    for (const entry of entries) {
      if (!Object.hasOwn(kinds, entry[0])) throw new NewerJournalError(path, lines, entry[0]);
      onEntry(entry);
    }
  };
  for await (const piece of bytes) {
    size += piece.length;
    rest = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
      if (torn > 0) throw new BrokenJournalError(path, torn);
      lines += 1;
      const line = rest.subarray(start, end);
      const entries = entriesOf(line);
      if (entries !== null) {
        tell(entries);
        whole += end + 1 - start;
      } else if (hasLostPages(line)) {
        torn = lines;
      } else {
        throw new BrokenJournalError(path, lines);
      }
      start = end + 1;
    }
    rest = rest.subarray(start);
  }
  if (torn > 0 && rest.length > 0) throw new BrokenJournalError(path, torn);
  const unended = entriesOf(rest.subarray(0, -1));
  if (unended === null) return { whole, size, ended: true };
  lines += 1;
  tell(unended);
  return { whole: whole + rest.length - 1, size, ended: false };
}

function lineOf(entries: readonly Entry[]): string {
  const text = JSON.stringify(entries);
  return `${checksum(text)} ${text}\n`;
}

function entriesOf(line: Buffer): Entry[] | null {
  const text = line.toString('utf8', 17);
  return line[16] === 32 && line.toString('latin1', 0, 16) === checksum(text) ? JSON.parse(text) : null;
}

/** Whether a line has the zeros of a power cut; a single byte that has become zero is damage. */
function hasLostPages(line: Buffer): boolean {
  const at = line.indexOf(0);
  if (at === -1 || line.indexOf(0, at + 1) !== -1) return at !== -1;
  const restored = Buffer.from(line);
  for (let byte = 1; byte < 256; byte += 1) {
    restored[at] = byte;
    if (entriesOf(restored) !== null) return false;
  }
  return true;
}

export function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
