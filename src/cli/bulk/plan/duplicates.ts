import { grown, hashOfNumber } from './files/hash-index.js';
import { noRequest } from './files/plan-format.js';
import { type RowStore, rowFields, skippedRow } from './files/row-store.js';
import { NumberedHashes } from './numbered-hashes.js';
import type { RecipientStore } from './recipient-store.js';
import { RowSet } from './row-set.js';

const unknown = 0xffff_ffff;
/** The fields of a row that is sent. */
const [lineField, messageField, requestField, indexField, nextField] = [0, 1, 2, 3, 4];

/**
 * Rows with a recipient of an earlier row: they are merged into the first row with the same message, or conflict with
 * it. The first row's message is only known in a second pass, which is skipped without duplicates. Memory: 1 bit a
 * row, and for each duplicate recipient 14 to 20 bytes of index and 16 for its first row; 4 more with `allowRepeats`.
 */
export class Duplicates {
  conflicts = 0;
  merged = 0;
  readonly #unsent = new RowSet();
  #recipients = new NumberedHashes();
  /**
   * The first row of each of these recipients. With `allowRepeats`, their other rows are behind, and each row has the
   * number of the recipient's next one.
   */
  #firsts = new Uint32Array(0);
  #fields = nextField;

  /** Counts the recipients of each message in `counts`, and merges the duplicates. */
  find(rowStore: RowStore, recipients: RecipientStore, counts: Uint32Array, allowRepeats: boolean): void {
    rowStore.scan((rows) => {
      for (let at = 0; at < rows.length; at += rowFields) {
        const recipient = rows[at + 1] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message >= skippedRow) continue;
        if (recipients.cameBefore(recipient)) this.#recipients.add(hashOfNumber(recipient), 0);
        else counts[message] = (counts[message] ?? 0) + 1;
      }
    });
    let length = this.#recipients.length;
    if (length === 0) return;
    if (allowRepeats) this.#fields += 1;
    this.#firsts = new Uint32Array(length * this.#fields).fill(unknown);
    rowStore.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const line = rows[at] ?? 0;
        const message = rows[at + 2] ?? 0;
        const first = message >= skippedRow ? -1 : this.#firstOf(rows[at + 1] ?? 0);
        if (first === -1) continue;
        const isFirst = this.#field(first, messageField) === unknown;
        if (isFirst) this.#set(first, line, message);
        else if (this.#sameMessage(first, message) !== unknown) this.merged += 1;
        else if (allowRepeats) {
          counts[message] = (counts[message] ?? 0) + 1;
          this.#set(length, line, message, this.#field(first, nextField));
          this.#firsts[first * this.#fields + nextField] = length;
          length += 1;
          continue;
        } else this.conflicts += 1;
        if (!isFirst) this.#unsent.add(row);
      }
    });
  }

  /** Whether the row is a duplicate that is not sent itself. */
  isUnsent(row: number): boolean {
    return this.#unsent.has(row);
  }

  /** Records the place of a row that is sent, before it is asked for. */
  place(recipient: number, message: number, request: number, index: number): void {
    const first = this.#recipients.length === 0 ? -1 : this.#firstOf(recipient);
    if (first === -1) return;
    const at = this.#sameMessage(first, message) * this.#fields;
    this.#firsts[at + requestField] = request;
    this.#firsts[at + indexField] = index;
  }

  /** For a row that is not sent, the place of the one that it is merged into, or the line that it conflicts with. */
  placeOf(recipient: number, message: number): [request: number, index: number] {
    const first = this.#firstOf(recipient);
    const same = this.#sameMessage(first, message);
    if (same === unknown) return [noRequest.conflict, this.#field(first, lineField)];
    const request = this.#field(same, requestField);
    if (request === unknown) throw new Error('a duplicate comes before its first row');
    return [request, this.#field(same, indexField)];
  }

  /** Frees the memory for the places, which cannot be asked for afterwards. */
  finish(): void {
    this.#recipients = new NumberedHashes();
    this.#firsts = new Uint32Array(0);
  }

  #firstOf(recipient: number): number {
    return this.#recipients.find(hashOfNumber(recipient), 0);
  }

  /** A recipient's row with this message. */
  #sameMessage(first: number, message: number): number {
    let at = first;
    while (at !== unknown && this.#field(at, messageField) !== message)
      at = this.#fields > nextField ? this.#field(at, nextField) : unknown;
    return at;
  }

  #field(first: number, field: number): number {
    return this.#firsts[first * this.#fields + field] ?? unknown;
  }

  #set(first: number, line: number, message: number, next = unknown): void {
    const at = first * this.#fields;
    if (at === this.#firsts.length) this.#firsts = grown(this.#firsts, at * 2);
    this.#firsts[at + lineField] = line;
    this.#firsts[at + messageField] = message;
    if (this.#fields === nextField) return;
    this.#firsts[at + requestField] = unknown;
    this.#firsts[at + nextField] = next;
  }
}
