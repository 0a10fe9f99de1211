import { counted } from '../../text/wording.js';
import { type CellError, type DamageWatch, damageOf, isDamaged, isPlaceholder } from '../input/cell-error.js';
import type { MessageError } from './composer.js';
import type { BufferedFile } from './files/buffered-file.js';
import { grown } from './files/hash-index.js';
import type { RowError } from './files/plan-format.js';
import { excludedRow, noMessage, RowStore, rejectedRow, rowFields, skippedRow } from './files/row-store.js';
import type { MessageStore } from './message-store.js';
import { type MessageHash, messageHash, type PairSet } from './pair-set.js';
import type { RecipientStore } from './recipient-store.js';
import { ReportedRows } from './reported-rows.js';
import { RowSet } from './row-set.js';
import type { LeftOut, RowSelection, SelectedColumns } from './select-columns.js';

const noErrors: readonly CellError[] = [];
const noFaults: readonly MessageError[] = [];

/** Maximum number of messages with a cached hash: in a file with a message for each row, none recurs. */
const cachedHashes = 4_096;

/** Cells of a column that a message uses, such as NULL: see `isPlaceholder`. */
export interface Placeholders {
  column: string;
  /** The first one. */
  value: string;
  rows: RowSet;
  /** Of the first row. */
  line: number;
}

/** Rows whose message has the fallback of a column. */
export interface Fallbacks {
  column: string;
  rows: number;
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
  /** Receives the recipients with their messages. */
  pairs: PairSet | null;
}

/** Plans the rows of an input one by one: finds their recipient and message, or rejects them. */
export class RowPlanner {
  readonly reportedRows = new ReportedRows();
  readonly messages: MessageStore;
  readonly rows: RowStore;
  /** Cells of rows that are sent, by column. */
  readonly placeholders = new Map<string, Placeholders>();
  /** Rows with a fallback in their message, by the index of the column. */
  readonly #fallbacks = new Map<number, RowSet>();
  rejected = 0;
  /** Whether the release at e5bfb29c sent any row another message. */
  isNew = false;
  /** Rows that an option left out. */
  readonly leftOut: Record<LeftOut, number> = { where: 0, only: 0, exclude: 0 };
  /** Rows that `--skip-sent` left out. */
  alreadySent = 0;
  readonly #parts: RowPlannerParts;
  readonly #hashes: MessageHash[] = [];
  /** Of the earlier readings of a constant message. */
  #constant: MessageHash[] | null = null;

  constructor(parts: RowPlannerParts) {
    this.#parts = parts;
    this.messages = parts.messages;
    this.rows = new RowStore(parts.file);
  }

  get recipientColumn(): number {
    return this.#parts.columns.recipient;
  }

  take(
    record: readonly string[],
    line: number,
    errors: readonly CellError[] = noErrors,
    written: readonly string[] = record,
  ): void {
    const { recipients, columns, damage } = this.#parts;
    const isWhole = errors.length === 0 && record.length === columns.names.length;
    const unreadable = isWhole && !damage.isNeeded ? noFaults : this.#unreadable(record, errors);
    if (unreadable.length > 0) {
      this.#reject(line, unreadable);
      return;
    }
    if (columns.selection !== null && !this.#isSelected(columns.selection, record, line, errors)) return;
    const { repaired } = recipients;
    const reason = recipients.read(record[columns.recipient] ?? '');
    // Messages are numbered as they appear: a rejected row must not add one.
    const message = reason === null ? this.messages.numberOf(record) : -1;
    if (message === -1) {
      this.#reject(line, this.#messageFaults(record, reason));
      return;
    }
    const changes = this.messages.isNew ? this.messages.changesIn(record) : null;
    if (changes !== null) {
      this.isNew = true;
      recipients.note(changes, recipients.repaired > repaired);
    }
    const pair = this.#addPair(record, written, message, changes !== null);
    if (this.messages.columns.length > 0) this.#noteUses(record, line);
    if (columns.report !== null) this.#noteReport(record, columns.report);
    this.rows.add(line, recipients.add(), message, pair);
  }

  /** Adds a row that is not sent. */
  #isSelected(
    selection: RowSelection,
    record: readonly string[],
    line: number,
    errors: readonly CellError[],
  ): boolean {
    const left = selection.leavesOut(record, errors);
    if (left !== null) {
      this.leftOut[left] += 1;
      this.rows.add(line, 0, left === 'exclude' ? excludedRow : skippedRow);
      return false;
    }
    const faults = selection.faultsIn(record);
    if (faults.length > 0) this.#reject(line, faults);
    return faults.length === 0;
  }

  /** Those that are read: of a row that is left out, only those that decide about it. */
  #neededOf(
    record: readonly string[],
    errors: readonly CellError[],
    left: LeftOut | null,
  ): readonly CellError[] {
    const { recipient, selection } = this.#parts.columns;
    const used = this.messages.usesIn(record)?.read ?? this.messages.columns;
    const read = new Set([
      ...(left === 'where' ? [] : (selection?.columns ?? [])),
      ...(left === null ? [recipient, ...used] : []),
    ]);
    return errors.filter(({ field }) => field === null || read.has(field));
  }

  /** By line, the number of its row's pair and one more; 0 for none. */
  pairsByLine(): Uint32Array {
    let pairs = new Uint32Array(this.rows.length + 1_024);
    this.rows.scan((rows) => {
      for (let at = 0; at < rows.length; at += rowFields) {
        const line = rows[at] ?? 0;
        if (line >= pairs.length) pairs = grown(pairs, line * 2);
        if ((rows[at + 2] ?? 0) < noMessage) pairs[line] = (rows[at + 3] ?? 0) + 1;
      }
    });
    return pairs;
  }

  /** Leaves out the rows of pairs that were sent. */
  skipSent(pairs: PairSet): void {
    this.leaveOut((_, pair) => pairs.isSkipped(pair));
    this.alreadySent = this.rows.skipped.size;
  }

  /** Leaves out rows after all; `pair` is that of the row. */
  leaveOut(isLeftOut: (row: number, pair: number) => boolean): void {
    const noted = [...this.placeholders.values()];
    this.placeholders.clear();
    this.rows.scan((rows, first) => {
      for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1) {
        if ((rows[at + 2] ?? 0) < noMessage && isLeftOut(row, rows[at + 3] ?? 0)) this.rows.skipped.add(row);
        else
          for (const each of noted)
            if (each.rows.has(row)) this.#notePlaceholder(each.column, each.value, rows[at] ?? 0, row);
      }
    });
    this.reportedRows.leaveOut(this.rows.skipped);
  }

  /** The fallbacks in the messages of rows that are sent themselves, in the order of the columns. */
  fallbacks(isUnsent: (row: number) => boolean): Fallbacks[] {
    const counts = [...this.#fallbacks]
      .sort(([a], [b]) => a - b)
      .map(([index, set]) => ({ index, set, rows: 0 }));
    if (counts.length > 0)
      this.rows.scan((rows, first) => {
        for (let at = 0, row = first; at < rows.length; at += rowFields, row += 1)
          if ((rows[at + 2] ?? 0) < noMessage && !isUnsent(row))
            for (const each of counts) if (each.set.has(row)) each.rows += 1;
      });
    return counts
      .filter(({ rows }) => rows > 0)
      .map(({ index, rows }) => ({ column: this.#parts.columns.names[index] ?? '', rows }));
  }

  #noteUses(record: readonly string[], line: number): void {
    const uses = this.messages.usesIn(record);
    if (uses !== null)
      for (const index of uses.fallbacks) {
        const noted = this.#fallbacks.get(index) ?? new RowSet();
        this.#fallbacks.set(index, noted);
        noted.add(this.rows.length);
      }
    for (const index of uses?.read ?? this.messages.columns) {
      const value = record[index] ?? '';
      if (isPlaceholder(value))
        this.#notePlaceholder(this.#parts.columns.names[index] ?? '', value, line, this.rows.length);
    }
  }

  #notePlaceholder(column: string, value: string, line: number, row: number): void {
    const noted = this.placeholders.get(column) ?? { column, value, line, rows: new RowSet() };
    this.placeholders.set(column, noted);
    noted.rows.add(row);
  }

  /** Returns the number of the pair; 0 if none are wanted. */
  #addPair(record: readonly string[], written: readonly string[], message: number, isNew: boolean): number {
    const { pairs, recipients } = this.#parts;
    if (pairs === null) return 0;
    let hash = this.#hashes[message];
    if (hash === undefined) {
      hash = messageHash(this.messages.tail(message).toString());
      if (message < cachedHashes) this.#hashes[message] = hash;
    }
    const { normalized } = recipients;
    const pair = pairs.add(normalized, hash, this.#reportedStatus(record) === 'rejected');
    if (isNew || written !== record)
      for (const earlier of this.#earlierHashes(record, written, isNew))
        pairs.addReading(pair, normalized, earlier);
    return pair;
  }

  #earlierHashes(record: readonly string[], written: readonly string[], isNew: boolean): MessageHash[] {
    const isConstant = this.messages.columns.length === 0;
    if (isConstant && this.#constant !== null) return this.#constant;
    const tails = this.messages.earlierTails(record, written, isNew);
    const hashes = Array.from(tails, (tail) => messageHash(tail));
    if (isConstant) this.#constant = hashes;
    return hashes;
  }

  #noteReport(record: readonly string[], report: NonNullable<SelectedColumns['report']>): void {
    const job = (record[report.job] ?? '').trim();
    const line = Number(record[report.line]);
    if (job === '' || !Number.isInteger(line)) return;
    this.reportedRows.add(job, this.#reportedStatus(record), { line, row: this.rows.length });
    this.reportedRows.name(job, line, (record[report.batch] || record[report.message]) ?? '');
  }

  #reportedStatus(record: readonly string[]): string {
    const { report, selection } = this.#parts.columns;
    return report === null ? '' : (selection?.statusOf(record) ?? '');
  }

  /** Cells without a value that are needed, else what is wrong with the form of the row. */
  #unreadable(record: readonly string[], errors: readonly CellError[]): readonly MessageError[] {
    const { names, selection } = this.#parts.columns;
    const left = selection?.leavesOut(record, errors) ?? null;
    const needed = errors.length > 0 ? this.#neededOf(record, errors, left) : errors;
    if (needed.length > 0)
      return needed.map(({ field, letters, error }) => ({ column: names[field ?? -1] ?? letters, error }));
    // Nobody looks at a row that --where leaves out.
    const damaged = (left === 'where' ? [] : record).flatMap((value, index) =>
      isDamaged(value) ? [{ column: names[index] ?? String(index + 1), error: damageOf(value) }] : [],
    );
    if (record.length === names.length) return damaged;
    const column = names[Math.min(record.length, names.length) - 1] ?? '';
    const fields = `the row has ${counted(record.length, 'field')}, the header has ${names.length}`;
    // Missing fields are empty unless the file ends in them.
    const isCut = record.length < names.length;
    const error = isCut ? `${fields}, and its line has no end: the file may be cut off` : fields;
    return [{ column, error }, ...damaged];
  }

  #messageFaults(record: readonly string[], reason: string | null): MessageError[] {
    const column = this.#parts.columns.names[this.#parts.columns.recipient] ?? '';
    const faults = this.messages.errorsOf(record);
    if (reason === null) return faults;
    return [{ column, error: reason }, ...faults.filter((each) => each.column !== column)];
  }

  #reject(line: number, faults: readonly MessageError[]): void {
    for (const { column, error } of faults) {
      const entry: RowError = { row: this.rows.length, line, column, error };
      this.#parts.errors.appendText(`${JSON.stringify(entry)}\n`);
    }
    this.rejected += 1;
    this.rows.add(line, 0, rejectedRow);
  }
}
