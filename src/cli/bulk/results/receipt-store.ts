import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readAtOnce } from '../job/journal/append-file.js';
import { checkedLine, readCheckedLine, readLines, textStart } from '../job/journal/checked-line.js';
import { isSystemError } from '../job/system-error.js';
import type { Outcome } from './receipt-columns.js';

/** The final outcome of one recipient of a batch, or of a single send. */
export interface StoredReceipt extends Outcome {
  /** Position in the planned request. */
  index: number;
  credits: number;
}

/** Called with the stored outcomes of a batch, by its request and id; null if they are damaged. */
type OnReceipts = (request: number, batch: string, receipts: readonly StoredReceipt[] | null) => void;

const version = 1;
const fileName = 'receipts';
/** For a batch of 1,000 with ids and error codes of any reasonable length. */
const longestLine = 4 * 2 ** 20;

/**
 * The final outcomes of a job's batches, stored in its folder so that they are read from the service only once: an
 * append-only file of checksummed lines, one for each batch. It is a cache: a torn or damaged line is read again.
 */
export class ReceiptStore {
  readonly #file: FileHandle;
  readonly #isShared: boolean;
  /** Where the lines begin. */
  readonly #start: number;
  #isFull = false;

  private constructor(file: FileHandle, start: number, isShared: boolean) {
    this.#file = file;
    this.#start = start;
    this.#isShared = isShared;
  }

  /**
   * Opens the file of a job; `isShared` leaves it as it is, since another process may be writing it. Null if the file
   * cannot be used: everything is then read from the service.
   */
  static async open(
    folder: string,
    job: { id: string; digest: string },
    { isShared = false } = {},
  ): Promise<ReceiptStore | null> {
    const header = checkedLine(['receipts', version, job.id, job.digest]);
    let file: FileHandle | null = null;
    try {
      file = await open(join(folder, fileName), isShared ? 'r' : 'a+', 0o600);
      const bytes = Buffer.alloc(header.length);
      await file.read(bytes, 0, header.length, 0);
      if (bytes.toString() !== header) {
        if (isShared) throw new Error('a file of another job or version');
        await file.truncate(0);
        await file.appendFile(header);
      }
      return new ReceiptStore(file, header.length, isShared);
    } catch {
      await file?.close().catch(() => {});
      return null;
    }
  }

  /**
   * Reads everything, in the order in which it was stored: a later line of a request replaces earlier ones. Cuts off a
   * torn line, so that lines can be added.
   */
  async read(onReceipts: OnReceipts): Promise<void> {
    let end = this.#start;
    const onLine = (line: Buffer) => {
      end += line.length + 1;
      const value = readCheckedLine(line) as [number, string, unknown[][]] | null;
      if (value !== null) onReceipts(value[0], value[1], value[2].map(receiptOf));
      else onReceipts(Number.parseInt(line.toString('latin1', textStart + 1, textStart + 12), 10), '', null);
    };
    try {
      const rest = await readLines(this.#pieces(), onLine, longestLine);
      if (rest.length > 0 && !this.#isShared) await this.#file.truncate(end);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // What could not be read here is read from the service.
      this.#isFull = true;
    }
  }

  /** Without a stream, which closes the file where its reader stops. */
  async *#pieces(): AsyncGenerator<Buffer, void> {
    for (let at = this.#start; ; ) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(readAtOnce), 0, readAtOnce, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Does not sync: outcomes lost in a crash are read again. */
  async keep(request: number, batch: string, receipts: readonly StoredReceipt[]): Promise<void> {
    if (this.#isFull) return;
    const rows = receipts.map(({ index, id, status, code, credits, delivery }) => [
      index,
      id,
      status,
      code,
      credits,
      delivery,
    ]);
    const line = Buffer.from(checkedLine([request, batch, rows]));
    if (line.length > longestLine) return;
    try {
      await this.#file.appendFile(line);
    } catch {
      // A full disk costs the cache, not the report; the next run that opens the file cuts off the half line.
      this.#isFull = true;
    }
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => {});
  }
}

function receiptOf([index, id, status, code, credits, delivery]: unknown[]): StoredReceipt {
  return { index, id, status, code, credits, delivery } as StoredReceipt;
}

/** The final reports of carriers; `unknown` may still become one of them. */
const finalDeliveries: ReadonlySet<unknown> = new Set(['delivered', 'undelivered', 'bounced']);

export const isFinal = ({ status, delivery }: StoredReceipt) =>
  status === 'failed' || finalDeliveries.has(delivery);

/** `unknown` is read again. */
export const isNotUnknown = ({ delivery }: StoredReceipt) => delivery !== 'unknown';
