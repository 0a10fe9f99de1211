import { grown, HashIndex, hashOfNumber } from './files/hash-index.js';
import { type RowStore, rejectedRow, rowFields, skippedRow } from './files/row-store.js';
import { RowSet } from './row-set.js';

const unknown = 0xffff_fffe;

/**
 * Rows with a recipient of an earlier row: they are merged into the first row with the same message, or conflict with
 * it. The first row's message is only known in a second pass, which is skipped without duplicates. Memory: 2 bits a
 * row, and for each duplicate recipient 12 to 24 bytes of index and 16 for its first row; 4 more with `allowRepeats`.
 */
export class Duplicates {
  readonly #rows = new RowSet();
  /** Rows that are sent, of recipients with duplicates. */
  readonly #firstRows = new RowSet();
  /** By recipient with duplicates, the number of its first row among the first rows. */
  #recipients = new HashIndex();
  /** By number of the first row: its line and message, and its request and index there. */
  #firstLines = new Uint32Array(0);
  #firstMessages = new Uint32Array(0);
  /** With `allowRepeats`: the number of the recipient's next first row. */
  #nextOfRecipient: Uint32Array | null = null;
  #requests = new Uint32Array(0);
  #places = new Uint32Array(0);
  #firsts = 0;
  #repeated = 0;
  conflicts = 0;
  merged = 0;

  add(row: number, recipient: number): void {
    this.#rows.add(row);
    const hash = hashOfNumber(recipient);
    if (this.#recipients.get(hash) !== -1) return;
    this.#recipients.add(hash, unknown);
    this.#repeated += 1;
  }

  /** Merges the duplicates in all rows; `counts` are the recipients of each message. */
  resolve(rowStore: RowStore, counts: Uint32Array, allowRepeats: boolean): void {
    if (this.#rows.size === 0) return;
    this.#makeRoom(this.#repeated, allowRepeats);
    rowStore.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const recipient = rows[at + 1] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message === rejectedRow || message === skippedRow) continue;
        const hash = hashOfNumber(recipient);
        const first = this.#recipients.get(hash);
        if (first === -1) continue;
        if (this.#rows.has(row)) this.#resolveRow(row, rows[at] ?? 0, first, message, counts, allowRepeats);
        else this.#recipients.set(hash, this.#addFirst(row, rows[at] ?? 0, message));
      }
    });
  }

  #resolveRow(
    row: number,
    line: number,
    first: number,
    message: number,
    counts: Uint32Array,
    allowRepeats: boolean,
  ): void {
    if (this.#sameMessage(first, message) !== unknown) {
      this.merged += 1;
      return;
    }
    if (!allowRepeats) {
      this.conflicts += 1;
      return;
    }
    counts[message] = (counts[message] ?? 0) + 1;
    const added = this.#addFirst(row, line, message);
    const next = this.#nextOfRecipient as Uint32Array;
    next[added] = next[first] ?? unknown;
    next[first] = added;
  }

  /** A recipient's first row with this message. */
  #sameMessage(first: number, message: number): number {
    for (let at = first; at !== unknown; at = this.#nextOfRecipient?.[at] ?? unknown) {
      if (this.#firstMessages[at] === message) return at;
    }
    return unknown;
  }

  /** Looks up the duplicates in one pass over the rows; null if there are none. */
  lookup(): DuplicateLookup | null {
    if (this.#rows.size === 0) return null;
    let placed = 0;
    return {
      find: (row, recipient, message) => {
        if (!this.isUnsent(row)) return null;
        const first = this.#recipients.get(hashOfNumber(recipient));
        const same = this.#sameMessage(first, message);
        if (same === unknown) return { conflictLine: this.#firstLines[first] ?? 0 };
        if (same >= placed) throw new Error('a duplicate comes before its first row');
        return { request: this.#requests[same] ?? 0, index: this.#places[same] ?? 0 };
      },
      place: (row, request, index) => {
        if (!this.#firstRows.has(row)) return;
        this.#requests[placed] = request;
        this.#places[placed] = index;
        placed += 1;
      },
    };
  }

  /** Whether the row is a duplicate that is not sent itself. */
  isUnsent(row: number): boolean {
    return this.#rows.has(row) && !this.#firstRows.has(row);
  }

  /** Frees the memory for `lookup`, which cannot be called afterwards. */
  finish(): void {
    this.#recipients = new HashIndex();
    this.#firstLines = this.#firstMessages = this.#requests = this.#places = new Uint32Array(0);
    this.#nextOfRecipient = null;
  }

  #makeRoom(firsts: number, allowRepeats: boolean): void {
    this.#firstLines = grown(this.#firstLines, firsts);
    this.#firstMessages = grown(this.#firstMessages, firsts);
    this.#requests = grown(this.#requests, firsts);
    this.#places = grown(this.#places, firsts);
    if (allowRepeats) this.#nextOfRecipient = grown(this.#nextOfRecipient ?? new Uint32Array(0), firsts);
  }

  #addFirst(row: number, line: number, message: number): number {
    const first = this.#firsts;
    // With `allowRepeats` there may be more first rows than recipients.
    if (first === this.#firstLines.length) this.#makeRoom(first * 2, true);
    this.#firstRows.add(row);
    this.#firstLines[first] = line;
    this.#firstMessages[first] = message;
    if (this.#nextOfRecipient !== null) this.#nextOfRecipient[first] = unknown;
    this.#firsts += 1;
    return first;
  }
}

export interface DuplicateLookup {
  /**
   * The place of the row that this one is merged into, or the line that it conflicts with; null if it is sent itself.
   */
  find(
    row: number,
    recipient: number,
    message: number,
  ): { request: number; index: number } | { conflictLine: number } | null;
  /** Records the place of a row that is sent. */
  place(row: number, request: number, index: number): void;
}
