import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedLine, readCheckedLine, textStart } from '../job/journal/checked-line.js';
import type { Outcome } from './receipt-columns.js';

/** The final outcome of one recipient of a batch. */
export interface StoredReceipt extends Outcome {
  /** Position in the planned request. */
  index: number;
  credits: number;
}

interface StoredJob {
  id: string;
  digest: string;
  requests: number;
}

const version = 1;
const fileName = 'receipts';
const pieceSize = 262_144;
/** For a batch of 1,000 with ids and error codes of any reasonable length. */
const longestLine = 4 * 2 ** 20;

/**
 * The final outcomes of a job's batches, stored in its folder so that they are read from the service only once: an
 * append-only file of checksummed lines, one for each batch. It is a cache: a torn or damaged line is read again.
 */
export class ReceiptStore {
  readonly #file: FileHandle;
  readonly #offsets: Float64Array;
  readonly #lengths: Uint32Array;
  #size = 0;
  #full = false;
  #piece = { first: 0, bytes: Buffer.alloc(0) };

  private constructor(file: FileHandle, requests: number) {
    this.#file = file;
    this.#offsets = new Float64Array(requests);
    this.#lengths = new Uint32Array(requests);
  }

  /** Null if the file cannot be used; everything is then read from the service. */
  static open(folder: string, job: StoredJob): Promise<ReceiptStore | null> {
    return ReceiptStore.#open(folder, job, 'a+');
  }

  /** Leaves the file as it is: another process may be writing it. Null without a file of this job. */
  static openForReading(folder: string, job: StoredJob): Promise<ReceiptStore | null> {
    return ReceiptStore.#open(folder, job, 'r');
  }

  static async #open(folder: string, job: StoredJob, flags: 'a+' | 'r'): Promise<ReceiptStore | null> {
    let file: FileHandle | null = null;
    try {
      file = await open(join(folder, fileName), flags, 0o600);
      const store = new ReceiptStore(file, job.requests);
      const header = checkedLine(['receipts', version, job.id, job.digest]);
      const isOwn = await store.#scan(header);
      if (flags === 'a+') await store.#repair(isOwn, header);
      else if (!isOwn) throw new Error('a file of another job or version');
      return store;
    } catch {
      await file?.close().catch(() => {});
      return null;
    }
  }

  /** The outcomes of a batch; null if some are missing. */
  async read(request: number, batch: string): Promise<StoredReceipt[] | null> {
    const length = this.#lengths[request] ?? 0;
    if (length === 0) return null;
    try {
      const line = await this.#bytes(this.#offsets[request] ?? 0, length);
      const [number, id, rows] = readCheckedLine(line) as [number, string, unknown[][]];
      return number === request && id === batch ? rows.map(receiptOf) : null;
    } catch {
      return null;
    }
  }

  /** Does not sync: outcomes lost in a crash are read again. */
  async keep(request: number, batch: string, receipts: readonly StoredReceipt[]): Promise<void> {
    if (this.#full) return;
    const rows = receipts.map(({ index, id, status, code, credits, delivery }) => [
      index,
      id,
      status,
      code,
      credits,
      delivery,
    ]);
    try {
      await this.#append(request, checkedLine([request, batch, rows]));
    } catch {
      // A full disk costs the cache, not the report; the next run that opens the file cuts off the half line.
      this.#full = true;
    }
  }

  /** Reads larger pieces of the file, because the lines of single sends are short and close to each other. */
  async #bytes(offset: number, length: number): Promise<Buffer> {
    const { first, bytes } = this.#piece;
    if (offset >= first && offset + length <= first + bytes.length) {
      return bytes.subarray(offset - first, offset - first + length);
    }
    const start = Math.max(0, offset - pieceSize / 2);
    const piece = Buffer.alloc(Math.max(pieceSize, offset - start + length));
    const { bytesRead } = await this.#file.read(piece, 0, piece.length, start);
    this.#piece = { first: start, bytes: piece.subarray(0, bytesRead) };
    return piece.subarray(offset - start, Math.min(offset - start + length, bytesRead));
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => {});
  }

  async #append(request: number | null, line: string): Promise<void> {
    const bytes = Buffer.from(line);
    if (bytes.length > longestLine) return;
    for (let done = 0; done < bytes.length; )
      done += (await this.#file.write(bytes, done, bytes.length - done)).bytesWritten;
    if (request !== null) this.#note(request, this.#size, bytes.length - 1);
    this.#size += bytes.length;
  }

  #note(request: number, offset: number, length: number): void {
    if (!(request < this.#lengths.length)) return;
    this.#offsets[request] = offset;
    this.#lengths[request] = length;
  }

  /** Finds the lines. False for a file of another job or version. */
  async #scan(header: string): Promise<boolean> {
    let rest: Buffer = Buffer.alloc(0);
    let offset = 0;
    let own = false;
    for (;;) {
      const piece = Buffer.alloc(pieceSize);
      const { bytesRead } = await this.#file.read(piece, 0, pieceSize, offset + rest.length);
      if (bytesRead === 0) break;
      rest = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
      let start = 0;
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
        const line = rest.subarray(start, end);
        if (offset === 0 && start === 0) own = `${line}\n` === header;
        else this.#found(line, offset + start, end - start);
        start = end + 1;
      }
      offset += start;
      rest = rest.subarray(start);
      if (!own || rest.length > longestLine) break;
    }
    this.#size = own ? offset : 0;
    return own;
  }

  /** Cuts off a torn line, and empties a file of another job or version. */
  async #repair(isOwn: boolean, header: string): Promise<void> {
    await this.#file.truncate(this.#size);
    if (isOwn) return;
    this.#lengths.fill(0);
    await this.#append(null, header);
  }

  /** The checksum is verified when the line is read. */
  #found(line: Buffer, offset: number, length: number): void {
    const [, request] = /^\[(\d+),/.exec(line.toString('latin1', textStart, textStart + 12)) ?? [];
    if (request !== undefined) this.#note(Number(request), offset, length);
  }
}

function receiptOf([index, id, status, code, credits, delivery]: unknown[]): StoredReceipt {
  return { index, id, status, code, credits, delivery } as StoredReceipt;
}
