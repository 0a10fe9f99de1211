import { type RowSpool, rejectedRow, rowFields, rowNotChosen } from './row-spool.js';

/** What becomes of a row whose recipient an earlier row has; else the index of the row it merges into. */
const conflict = -1;
const planned = -2;

/**
 * Rows whose recipient came before. That is only known of a row when it is read, not what the earlier row
 * said: it is settled in one more pass, which only files with repeated recipients need.
 */
export class Repeats {
  /** Repeated rows in their order, and what becomes of them. */
  readonly #rows: number[] = [];
  readonly #outcomes: number[] = [];
  readonly #recipients = new Map<number, number>();
  /** The rows that others merge into or conflict with, in their order. */
  readonly #firstRows: number[] = [];
  readonly #firstLines: number[] = [];
  readonly #firstMessages: number[] = [];
  /** For each of them, the next one of the same recipient, or -1. */
  readonly #nextOfRecipient: number[] = [];
  conflicts = 0;
  merged = 0;

  add(row: number, recipient: number): void {
    this.#rows.push(row);
    this.#recipients.set(recipient, -1);
  }

  /** Settles every repeated row; `counts` are the recipients of each message. */
  settle(spool: RowSpool, counts: Uint32Array, allowRepeats: boolean): void {
    if (this.#rows.length === 0) return;
    spool.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const recipient = rows[at + 1] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message === rejectedRow || message === rowNotChosen) continue;
        const first = this.#recipients.get(recipient);
        if (first === undefined) continue;
        if (row === this.#rows[this.#outcomes.length]) {
          this.#outcomes.push(this.#settleRow(row, rows[at] ?? 0, first, message, counts, allowRepeats));
        } else {
          this.#recipients.set(recipient, this.#addFirst(row, rows[at] ?? 0, message));
        }
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
  ): number {
    for (let at = first; at !== -1; at = this.#nextOfRecipient[at] ?? -1) {
      if (this.#firstMessages[at] === message) {
        this.merged += 1;
        return at;
      }
    }
    if (!allowRepeats) {
      this.conflicts += 1;
      return conflict;
    }
    counts[message] = (counts[message] ?? 0) + 1;
    const added = this.#addFirst(row, line, message);
    this.#nextOfRecipient[added] = this.#nextOfRecipient[first] ?? -1;
    this.#nextOfRecipient[first] = added;
    return planned;
  }

  /** Walks the settled rows once, in the order of the rows; null when there are none. */
  walk(): RepeatWalk | null {
    if (this.#rows.length === 0) return null;
    const places: { chunk: number; index: number }[] = [];
    const firstOf = this.#recipients;
    let next = 0;
    let nextFirst = 0;
    return {
      meet: (row, recipient) => {
        if (row !== this.#rows[next]) return null;
        const outcome = this.#outcomes[next] ?? planned;
        next += 1;
        if (outcome === planned) return null;
        if (outcome === conflict)
          return { conflictWith: this.#firstLines[firstOf.get(recipient) ?? -1] ?? 0 };
        const place = places[outcome];
        if (place === undefined) throw new Error('a row merges into one that has no place yet');
        return place;
      },
      placed: (row, chunk, index) => {
        if (row !== this.#firstRows[nextFirst]) return;
        places[nextFirst] = { chunk, index };
        nextFirst += 1;
      },
    };
  }

  #addFirst(row: number, line: number, message: number): number {
    this.#firstRows.push(row);
    this.#firstLines.push(line);
    this.#firstMessages.push(message);
    this.#nextOfRecipient.push(-1);
    return this.#firstRows.length - 1;
  }
}

export interface RepeatWalk {
  /** What becomes of this row if it is a repeated one that is not sent itself; null when it is sent. */
  meet(row: number, recipient: number): { chunk: number; index: number } | { conflictWith: number } | null;
  /** Says where a row that is sent went. */
  placed(row: number, chunk: number, index: number): void;
}
