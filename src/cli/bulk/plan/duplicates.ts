import { RecipientIndex, RowSet } from './recipient-index.js';
import { type RowSpool, rejectedRow, rowFields, rowNotChosen } from './row-store.js';

const unknown = 0xffff_ffff;

/**
 * Rows whose recipient came before. That is only known of a row when it is read, not what the earlier row
 * said: it is settled in one more pass, which only files with repeated recipients need. It takes 2 bits a row,
 * and of each repeated recipient 8 to 16 bytes of index and 16 of what its first row says; 4 more with
 * `allowRepeats`. What becomes of a repeated row is worked out again whenever it is met.
 */
export class Repeats {
  /** The repeated rows. */
  readonly #rows = new RowSet();
  /** Rows that are sent to a recipient who has repeated rows: those they merge into or conflict with. */
  readonly #firstRows = new RowSet();
  /** Of each repeated recipient, the number of its first row among those. */
  #recipients = new RecipientIndex();
  /** Of each first row. */
  #firstLines = new Uint32Array(0);
  #firstMessages = new Uint32Array(0);
  /** With several messages for a recipient: the next one of the same recipient. */
  #nextOfRecipient: Uint32Array | null = null;
  #requests = new Uint32Array(0);
  #places = new Uint32Array(0);
  #firsts = 0;
  conflicts = 0;
  merged = 0;

  add(row: number, recipient: number): void {
    this.#rows.add(row);
    this.#recipients.set(recipient, unknown);
  }

  /** Settles every repeated row; `counts` are the recipients of each message. */
  settle(spool: RowSpool, counts: Uint32Array, allowRepeats: boolean): void {
    if (this.#rows.size === 0) return;
    this.#makeRoom(this.#recipients.size, allowRepeats);
    spool.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const recipient = rows[at + 1] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message === rejectedRow || message === rowNotChosen) continue;
        const first = this.#recipients.get(recipient);
        if (first === undefined) continue;
        if (this.#rows.has(row)) this.#settleRow(row, rows[at] ?? 0, first, message, counts, allowRepeats);
        else this.#recipients.set(recipient, this.#addFirst(row, rows[at] ?? 0, message));
      }
    });
  }

  #settleRow(
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

  /** The first row of a recipient with this message. */
  #sameMessage(first: number, message: number): number {
    for (let at = first; at !== unknown; at = this.#nextOfRecipient?.[at] ?? unknown) {
      if (this.#firstMessages[at] === message) return at;
    }
    return unknown;
  }

  /** Walks the settled rows once, in the order of the rows; null when there are none. */
  walk(): RepeatWalk | null {
    if (this.#rows.size === 0) return null;
    let placed = 0;
    return {
      meet: (row, recipient, message) => {
        if (!this.isLeftOut(row)) return null;
        const first = this.#recipients.get(recipient) ?? unknown;
        const same = this.#sameMessage(first, message);
        if (same === unknown) return { conflictWith: this.#firstLines[first] ?? 0 };
        if (same >= placed) throw new Error('a row merges into one that has no place yet');
        return { request: this.#requests[same] ?? 0, index: this.#places[same] ?? 0 };
      },
      placed: (row, request, index) => {
        if (!this.#firstRows.has(row)) return;
        this.#requests[placed] = request;
        this.#places[placed] = index;
        placed += 1;
      },
    };
  }

  /** Whether a row is not sent itself, since an earlier one has its recipient. */
  isLeftOut(row: number): boolean {
    return this.#rows.has(row) && !this.#firstRows.has(row);
  }

  /** Gives back the memory that walking takes; nothing may walk after. */
  finish(): void {
    this.#recipients = new RecipientIndex();
    this.#firstLines = this.#firstMessages = this.#requests = this.#places = new Uint32Array(0);
    this.#nextOfRecipient = null;
  }

  #makeRoom(firsts: number, allowRepeats: boolean): void {
    const grown = (from: Uint32Array) => {
      const to = new Uint32Array(firsts);
      to.set(from);
      return to;
    };
    this.#firstLines = grown(this.#firstLines);
    this.#firstMessages = grown(this.#firstMessages);
    this.#requests = grown(this.#requests);
    this.#places = grown(this.#places);
    if (allowRepeats) this.#nextOfRecipient = grown(this.#nextOfRecipient ?? new Uint32Array(0));
  }

  #addFirst(row: number, line: number, message: number): number {
    const first = this.#firsts;
    // Only with several messages for a recipient there are more of them than recipients.
    if (first === this.#firstLines.length) this.#makeRoom(first * 2, true);
    this.#firstRows.add(row);
    this.#firstLines[first] = line;
    this.#firstMessages[first] = message;
    if (this.#nextOfRecipient !== null) this.#nextOfRecipient[first] = unknown;
    this.#firsts += 1;
    return first;
  }
}

export interface RepeatWalk {
  /** What becomes of this row if it is a repeated one that is not sent itself; null when it is sent. */
  meet(
    row: number,
    recipient: number,
    message: number,
  ): { request: number; index: number } | { conflictWith: number } | null;
  /** Says where a row that is sent went. */
  placed(row: number, request: number, index: number): void;
}
