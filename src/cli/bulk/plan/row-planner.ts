import { counted } from '../../text/wording.js';
import { type CellError, isPlaceholder } from '../input/cell-error.js';
import { type DamageWatch, damageOf, isDamaged } from '../input/damage.js';
import { Duplicates } from './duplicates.js';
import type { BufferedFile } from './files/buffered-file.js';
import type { RowError } from './files/plan-format.js';
import { RowStore, rejectedRow, rowFields, skippedRow } from './files/row-store.js';
import type { MessageStore } from './message-store.js';
import type { RecipientStore } from './recipient-store.js';
import { ReportedRows } from './reported-rows.js';
import type { SelectedColumns } from './select-columns.js';
import { type MessageHash, messageHash, type SentIndex } from './sent-index.js';

const noErrors: readonly CellError[] = [];

/** Maximum number of messages with a cached hash: in a file with a message for each row, none recurs. */
const cachedHashes = 4_096;

/** Cells of a column that a message uses, such as NULL: see `isPlaceholder`. */
export interface Placeholders {
  column: string;
  /** The first one, and its line. */
  value: string;
  line: number;
  count: number;
}

/** Earlier sends, and whether to leave out their recipients. */
export interface SentBefore {
  index: SentIndex;
  skip: boolean;
  /** Compares only rows rejected according to a report: they were fixed, perhaps with another recipient. */
  onlyRejected: boolean;
}

export interface RowPlannerParts {
  columns: SelectedColumns;
  recipients: RecipientStore;
  messages: MessageStore;
  damage: DamageWatch;
  /** Receives the rows. */
  file: BufferedFile;
  /** Receives one RowError a line. */
  errors: BufferedFile;
  sentBefore: SentBefore | null;
}

/** Plans the rows of an input one by one: finds their recipient and message, or rejects them. */
export class RowPlanner {
  readonly duplicates = new Duplicates();
  readonly reportedRows = new ReportedRows();
  readonly messages: MessageStore;
  readonly rows: RowStore;
  /** Cells of rows that are sent, by column. */
  readonly placeholders = new Map<string, Placeholders>();
  rejected = 0;
  /** Rows that `--only` left out. */
  notSelected = 0;
  /** Rows that `--skip-sent` left out. */
  alreadySent = 0;
  readonly #columns: SelectedColumns;
  readonly #recipients: RecipientStore;
  readonly #damage: DamageWatch;
  readonly #errors: BufferedFile;
  readonly #sentBefore: SentBefore | null;
  readonly #hashes: MessageHash[] = [];

  constructor({ columns, recipients, messages, damage, file, errors, sentBefore }: RowPlannerParts) {
    this.#columns = columns;
    this.#recipients = recipients;
    this.messages = messages;
    this.#damage = damage;
    this.rows = new RowStore(file, (block, first) => this.#count(block, first));
    this.#errors = errors;
    this.#sentBefore = sentBefore;
  }

  get recipientColumn(): number {
    return this.#columns.recipient;
  }

  take(record: readonly string[], line: number, errors: readonly CellError[] = noErrors): void {
    const { names, recipient } = this.#columns;
    const needed = errors.length > 0 ? this.#neededOf(record, errors) : errors;
    if (needed.length > 0) {
      this.#rejectCells(needed, line);
      return;
    }
    if (record.length !== names.length || (this.#damage.isNeeded && record.some(isDamaged))) {
      this.#rejectShape(record, line);
      return;
    }
    if (!this.#isSelected(record)) {
      this.notSelected += 1;
      this.rows.add(line, 0, skippedRow);
      return;
    }
    const reason = this.#recipients.read(record[recipient] ?? '');
    // Messages are numbered as they appear: a rejected row must not add one.
    const message = reason === null ? this.messages.numberOf(record) : -1;
    if (message === -1) {
      this.#reject(record, line, reason);
      return;
    }
    if (this.#sentBefore !== null && this.#isSent(record, message, this.#sentBefore)) {
      this.alreadySent += 1;
      this.rows.add(line, 0, skippedRow);
      return;
    }
    this.#notePlaceholders(record, line);
    this.rows.add(line, this.#recipients.add(), message);
    this.#noteReport(record);
  }

  #isSelected(record: readonly string[]): boolean {
    return this.#columns.selection?.has(record) ?? true;
  }

  /** The errors in cells that are read; of a row that `--only` leaves out, those are only the ones of its status. */
  #neededOf(record: readonly string[], errors: readonly CellError[]): readonly CellError[] {
    const { recipient, selection } = this.#columns;
    const ofRow = this.#isSelected(record) ? [recipient, ...this.messages.columns] : [];
    const read = new Set([...(selection?.columns ?? []), ...ofRow]);
    return errors.filter(({ field }) => field === null || read.has(field));
  }

  #notePlaceholders(record: readonly string[], line: number): void {
    for (const index of this.messages.columns) {
      const value = record[index] ?? '';
      if (!isPlaceholder(value)) continue;
      const column = this.#columns.names[index] ?? '';
      const noted = this.placeholders.get(column) ?? { column, value, line, count: 0 };
      noted.count += 1;
      this.placeholders.set(column, noted);
    }
  }

  #isSent(record: readonly string[], message: number, { index, skip, onlyRejected }: SentBefore): boolean {
    if (onlyRejected && this.#reportedStatus(record) !== 'rejected') return false;
    let hash = this.#hashes[message];
    if (hash === undefined) {
      hash = messageHash(this.messages.tail(message).toString());
      if (message < cachedHashes) this.#hashes[message] = hash;
    }
    return index.count(this.#recipients.normalized, hash) && skip;
  }

  #noteReport(record: readonly string[]): void {
    const { report } = this.#columns;
    if (report === null) return;
    const job = (record[report.job] ?? '').trim();
    const line = Number(record[report.line]);
    if (job !== '' && Number.isInteger(line)) this.reportedRows.add(job, this.#reportedStatus(record), line);
  }

  #reportedStatus(record: readonly string[]): string {
    const { report } = this.#columns;
    return report === null ? '' : (record[report.status] ?? '').trim().toLowerCase();
  }

  /** Counts the recipients of each message, and collects the duplicates. */
  #count(rows: Uint32Array, first: number): void {
    const { counts } = this.messages;
    for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
      const recipient = rows[at + 1] ?? 0;
      const message = rows[at + 2] ?? 0;
      if (message === rejectedRow || message === skippedRow) continue;
      if (this.#recipients.cameBefore(recipient)) this.duplicates.add(row, recipient);
      else counts[message] = (counts[message] ?? 0) + 1;
    }
  }

  #rejectCells(errors: readonly CellError[], line: number): void {
    const { names } = this.#columns;
    for (const { field, letters, error } of errors) {
      this.#report(line, (field === null ? undefined : names[field]) ?? letters, error);
    }
    this.#leaveOut(line);
  }

  #rejectShape(record: readonly string[], line: number): void {
    const { names } = this.#columns;
    if (record.length !== names.length) {
      const last = names[Math.min(record.length, names.length) - 1] ?? '';
      this.#report(
        line,
        last,
        `the row has ${counted(record.length, 'field')}, the header has ${names.length}`,
      );
    }
    record.forEach((value, index) => {
      if (isDamaged(value)) this.#report(line, names[index] ?? String(index + 1), damageOf(value));
    });
    this.#leaveOut(line);
  }

  #reject(record: readonly string[], line: number, reason: string | null): void {
    const { names, recipient } = this.#columns;
    const recipientColumn = names[recipient] ?? '';
    if (reason !== null) this.#report(line, recipientColumn, reason);
    for (const { column, error } of this.messages.errorsOf(record)) {
      if (reason === null || column !== recipientColumn) this.#report(line, column, error);
    }
    this.#leaveOut(line);
  }

  #report(line: number, column: string, error: string): void {
    const entry: RowError = { row: this.rows.length, line, column, error };
    this.#errors.appendText(`${JSON.stringify(entry)}\n`);
  }

  #leaveOut(line: number): void {
    this.rejected += 1;
    this.rows.add(line, 0, rejectedRow);
  }
}
