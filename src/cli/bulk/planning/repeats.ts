import { type RowSpool, rejectedRow, rowNotChosen } from './row-spool.js';

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
    let next = 0;
    spool.scan((row, line, recipient, message) => {
      if (message === rejectedRow || message === rowNotChosen) return;
      const first = this.#recipients.get(recipient);
      if (first === undefined) return;
      if (row !== this.#rows[next]) {
        this.#recipients.set(recipient, this.#addFirst(row, line, message));
        return;
      }
      next += 1;
      const same = this.#sameMessage(first, message);
      if (same !== -1) {
        this.merged += 1;
        this.#outcomes.push(same);
      } else if (allowRepeats) {
        counts[message] = (counts[message] ?? 0) + 1;
        const added = this.#addFirst(row, line, message);
        this.#nextOfRecipient[added] = this.#nextOfRecipient[first] ?? -1;
        this.#nextOfRecipient[first] = added;
        this.#outcomes.push(planned);
      } else {
        this.conflicts += 1;
        this.#outcomes.push(conflict);
      }
    });
  }

  /** Walks the settled rows once, in the order of the rows. */
  walk(): RepeatWalk {
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
        return places[outcome] ?? null;
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

  #sameMessage(first: number, message: number): number {
    for (let at = first; at !== -1; at = this.#nextOfRecipient[at] ?? -1) {
      if (this.#firstMessages[at] === message) return at;
    }
    return -1;
  }
}

export interface RepeatWalk {
  /** What becomes of this row if it is a repeated one that is not sent itself; null when it is sent. */
  meet(row: number, recipient: number): { chunk: number; index: number } | { conflictWith: number } | null;
  /** Says where a row that is sent went. */
  placed(row: number, chunk: number, index: number): void;
}
