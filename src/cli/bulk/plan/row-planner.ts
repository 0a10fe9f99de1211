import { isDamaged } from '../input/table-parser.js';
import type { CellFault } from '../input/workbook/sheet-table.js';
import type { BlockFile } from './buffered-file.js';
import { Repeats } from './duplicates.js';
import type { Messages } from './message-store.js';
import type { RowError } from './plan-format.js';
import type { Recipients } from './recipient-store.js';
import { type OriginColumns, Origins } from './reported-rows.js';
import { type RowSpool, rejectedRow, rowFields, rowNotChosen } from './row-store.js';
import { type MessageHash, messageHash, type SentIndex } from './sent-index.js';

export interface IntakeColumns {
  names: readonly string[];
  /** Index of the recipient column. */
  recipient: number;
  /** Index of the status column and the values that are chosen; null takes every row. */
  chosen: { column: number; statuses: ReadonlySet<string> } | null;
  /** Where a chosen row says which job it is from; null where it does not. */
  origin: OriginColumns | null;
}

const noFaults: readonly CellFault[] = [];

/** Messages of a file where everyone has another one do not come back. */
const cachedHashes = 4_096;

/** Who has which message already, and whether they are left out. */
export interface SentBefore {
  index: SentIndex;
  skip: boolean;
}

/** Takes the rows of an input one by one: finds their recipient and message, or what is wrong with them. */
export class RowIntake {
  readonly repeats = new Repeats();
  /** Whose rows were taken. */
  readonly origins = new Origins();
  rejected = 0;
  notChosen = 0;
  /** Rows that were left out because their recipient has the message. */
  alreadySent = 0;
  readonly #columns: IntakeColumns;
  readonly #recipients: Recipients;
  readonly messages: Messages;
  readonly #spool: RowSpool;
  readonly #errors: BlockFile;
  readonly #sentBefore: SentBefore | null;
  readonly #hashes: MessageHash[] = [];
  /** Set once damaged bytes were seen; until then no field is searched for them. */
  damageSeen = false;

  constructor(
    columns: IntakeColumns,
    recipients: Recipients,
    messages: Messages,
    spool: RowSpool,
    errors: BlockFile,
    sentBefore: SentBefore | null = null,
  ) {
    this.#sentBefore = sentBefore;
    this.#columns = columns;
    this.#recipients = recipients;
    this.messages = messages;
    this.#spool = spool;
    this.#errors = errors;
    spool.onRows = (rows, first) => this.#count(rows, first);
  }

  /** Index of the recipient column. */
  get recipientColumn(): number {
    return this.#columns.recipient;
  }

  take(record: readonly string[], line: number, faults: readonly CellFault[] = noFaults): void {
    const { names, recipient, chosen } = this.#columns;
    if (faults.length > 0) {
      this.#rejectCells(faults, line);
      return;
    }
    if (record.length !== names.length || (this.damageSeen && record.some(isDamaged))) {
      this.#rejectShape(record, line);
      return;
    }
    if (chosen !== null && !chosen.statuses.has((record[chosen.column] ?? '').trim().toLowerCase())) {
      this.notChosen += 1;
      this.#spool.add(line, 0, rowNotChosen);
      return;
    }
    const reason = this.#recipients.read(record[recipient] ?? '');
    // A row that is left out adds no message, so that it does not change the order of the others.
    const message = reason === null ? this.messages.numberOf(record) : -1;
    if (message === -1) {
      this.#reject(record, line, reason);
      return;
    }
    if (this.#sentBefore !== null && this.#isSent(message, this.#sentBefore)) {
      this.alreadySent += 1;
      this.#spool.add(line, 0, rowNotChosen);
      return;
    }
    this.#spool.add(line, this.#recipients.take(), message);
    this.#noteOrigin(record);
  }

  #isSent(message: number, { index, skip }: SentBefore): boolean {
    let hash = this.#hashes[message];
    if (hash === undefined) {
      hash = messageHash(this.messages.tail(message).toString());
      if (message < cachedHashes) this.#hashes[message] = hash;
    }
    return index.has(this.#recipients.form, hash) && skip;
  }

  #noteOrigin(record: readonly string[]): void {
    const { origin, chosen } = this.#columns;
    if (origin === null || chosen === null) return;
    const [job, line] = [record[origin.job] ?? '', Number(record[origin.line])];
    if (job !== '' && Number.isInteger(line))
      this.origins.add(job, (record[origin.status] ?? '').trim().toLowerCase(), line);
  }

  /** Counts the recipients of a message, and finds the rows whose recipient came before. */
  #count(rows: Uint32Array, first: number): void {
    const { counts } = this.messages;
    for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
      const recipient = rows[at + 1] ?? 0;
      const message = rows[at + 2] ?? 0;
      if (message === rejectedRow || message === rowNotChosen) continue;
      if (this.#recipients.cameBefore(recipient)) this.repeats.add(row, recipient);
      else counts[message] = (counts[message] ?? 0) + 1;
    }
  }

  #rejectCells(faults: readonly CellFault[], line: number): void {
    const { names } = this.#columns;
    for (const { field, letters, error } of faults) {
      this.#report(line, (field === null ? undefined : names[field]) ?? letters, error);
    }
    this.#leaveOut(line);
  }

  #rejectShape(record: readonly string[], line: number): void {
    const { names } = this.#columns;
    if (record.length !== names.length) {
      const last = names[Math.min(record.length, names.length) - 1] ?? '';
      this.#report(line, last, `the row has ${fieldCount(record.length)}, the header has ${names.length}`);
    }
    record.forEach((value, index) => {
      if (isDamaged(value)) {
        const what = value.includes('\0') ? 'holds a NUL' : 'holds U+FFFD, where a character was lost';
        this.#report(line, names[index] ?? String(index + 1), what);
      }
    });
    this.#leaveOut(line);
  }

  #reject(record: readonly string[], line: number, reason: string | null): void {
    const { names, recipient } = this.#columns;
    const column = names[recipient] ?? '';
    if (reason !== null) this.#report(line, column, reason);
    for (const fault of this.messages.faultsOf(record)) {
      if (reason === null || fault.column !== column) this.#report(line, fault.column, fault.error);
    }
    this.#leaveOut(line);
  }

  #report(line: number, column: string, error: string): void {
    const entry: RowError = { row: this.#spool.length, line, column, error };
    this.#errors.appendText(`${JSON.stringify(entry)}\n`);
  }

  #leaveOut(line: number): void {
    this.rejected += 1;
    this.#spool.add(line, 0, rejectedRow);
  }
}

function fieldCount(count: number): string {
  return count === 1 ? '1 field' : `${count} fields`;
}
