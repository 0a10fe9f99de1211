import { grown, HashIndex, hashOfNumber } from './files/hash-index.js';
import { noRequest } from './files/plan-format.js';
import { noMessage, type RowStore, rowFields } from './files/row-store.js';
import type { RecipientStore } from './recipient-store.js';
import { RowSet } from './row-set.js';

const unknown = 0xffff_fffe;
/** The fields of a first row: its row, which its request replaces, its line, its message and its index in the request. */
const [rowField, lineField, messageField, indexField, nextField] = [0, 1, 2, 3, 4];

/**
 * Rows with a recipient of an earlier row: they are merged into the first row with the same message, or conflict with
 * it. The first row's message is only known in a second pass, which is skipped without duplicates. Memory: 1 bit a
 * row, and for each duplicate recipient 12 to 24 bytes of index and 16 for its first row; 4 more with `allowRepeats`.
 */
export class Duplicates {
  conflicts = 0;
  merged = 0;
  readonly #unsent = new RowSet();
  /** By recipient with duplicates, the number of its first row among the first rows. */
  #recipients = new HashIndex();
  /** In the order of the rows. With `allowRepeats`, each has the number of the recipient's next one. */
  #firsts = new Uint32Array(0);
  #fields = nextField;
  #length = 0;
  #placed = 0;

  /** Counts the recipients of each message in `counts`, and merges the duplicates. */
  find(rowStore: RowStore, recipients: RecipientStore, counts: Uint32Array, allowRepeats: boolean): void {
    let repeated = 0;
    rowStore.scan((rows) => {
      for (let at = 0; at < rows.length; at += rowFields) {
        const recipient = rows[at + 1] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message >= noMessage) continue;
        if (!recipients.cameBefore(recipient)) counts[message] = (counts[message] ?? 0) + 1;
        else if (this.#recipients.get(hashOfNumber(recipient)) === -1) {
          this.#recipients.add(hashOfNumber(recipient), unknown);
          repeated += 1;
        }
      }
    });
    if (repeated === 0) return;
    if (allowRepeats) this.#fields += 1;
    this.#firsts = new Uint32Array(repeated * this.#fields);
    rowStore.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const line = rows[at] ?? 0;
        const message = rows[at + 2] ?? 0;
        if (message >= noMessage) continue;
        const hash = hashOfNumber(rows[at + 1] ?? 0);
        const first = this.#recipients.get(hash);
        if (first === -1) continue;
        if (first === unknown) this.#recipients.set(hash, this.#addFirst(row, line, message, unknown));
        else if (this.#sameMessage(first, message) === unknown && allowRepeats) {
          counts[message] = (counts[message] ?? 0) + 1;
          const added = this.#addFirst(row, line, message, this.#field(first, nextField));
          this.#firsts[first * this.#fields + nextField] = added;
        } else {
          this.#unsent.add(row);
          if (this.#sameMessage(first, message) === unknown) this.conflicts += 1;
          else this.merged += 1;
        }
      }
    });
  }

  /** All rows but those of the first recipients, and how many recipients these are. A conflict stays one. */
  limit(most: number, rowStore: RowStore, counts: Uint32Array): { rows: RowSet; recipients: number } {
    const later = { rows: new RowSet(), recipients: 0 };
    let taken = 0;
    rowStore.scan((rows, firstRow) => {
      for (let at = 0, row = firstRow; at < rows.length; at += rowFields, row += 1) {
        const message = rows[at + 2] ?? 0;
        if (message >= noMessage) continue;
        if (this.#unsent.has(row)) {
          const first = this.#recipients.get(hashOfNumber(rows[at + 1] ?? 0));
          const same = this.#sameMessage(first, message);
          if (same === unknown || !later.rows.has(this.#field(same, rowField))) continue;
          this.merged -= 1;
          later.rows.add(row);
        } else if (taken < most) taken += 1;
        else {
          counts[message] = (counts[message] ?? 0) - 1;
          later.recipients += 1;
          later.rows.add(row);
        }
      }
    });
    return later;
  }

  /** Whether the row is a duplicate that is not sent itself. */
  isUnsent(row: number): boolean {
    return this.#unsent.has(row);
  }

  /** Records the place of a row that is sent: of each one, in their order. */
  place(row: number, request: number, index: number): void {
    if (this.#placed === this.#length || this.#field(this.#placed, rowField) !== row) return;
    const at = this.#placed * this.#fields;
    this.#firsts[at + rowField] = request;
    this.#firsts[at + indexField] = index;
    this.#placed += 1;
  }

  /** For a row that is not sent, the place of the one that it is merged into, or the line that it conflicts with. */
  placeOf(recipient: number, message: number): [request: number, index: number] {
    const first = this.#recipients.get(hashOfNumber(recipient));
    const same = this.#sameMessage(first, message);
    if (same === unknown) return [noRequest.conflict, this.#field(first, lineField)];
    if (same >= this.#placed) throw new Error('a duplicate comes before its first row');
    return [this.#field(same, rowField), this.#field(same, indexField)];
  }

  /** Frees the memory for the places, which cannot be asked for afterwards. */
  finish(): void {
    this.#recipients = new HashIndex();
    this.#firsts = new Uint32Array(0);
  }

  /** A recipient's first row with this message. */
  #sameMessage(first: number, message: number): number {
    let at = first;
    while (at !== unknown && this.#field(at, messageField) !== message)
      at = this.#fields > nextField ? this.#field(at, nextField) : unknown;
    return at;
  }

  #field(first: number, field: number): number {
    return this.#firsts[first * this.#fields + field] ?? unknown;
  }

  #addFirst(row: number, line: number, message: number, next: number): number {
    const at = this.#length * this.#fields;
    // With `allowRepeats` there may be more first rows than recipients.
    if (at === this.#firsts.length) this.#firsts = grown(this.#firsts, at * 2);
    this.#firsts[at + rowField] = row;
    this.#firsts[at + lineField] = line;
    this.#firsts[at + messageField] = message;
    if (this.#fields > nextField) this.#firsts[at + nextField] = next;
    this.#length += 1;
    return this.#length - 1;
  }
}
