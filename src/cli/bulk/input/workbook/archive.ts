import { Readable } from 'node:stream';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { checksum } from '../../../xlsx/checksum.js';
import { damaged, saveAgain, WorkbookError } from './workbook-error.js';

/** Bytes that are appended once and read at any position. */
export interface ByteStore {
  readonly size: number;
  append(bytes: Uint8Array): void;
  /** Valid until the next read. */
  read(position: number, length: number): Buffer;
}

const mostEntries = 10_000;
/** For one part, unpacked. A sheet of 1,048,576 rows and ten columns has 500 MB. */
const mostBytes = 2_000_000_000;
/** For a part that lists other parts, unpacked. */
export const mostSmallBytes = 64_000_000;
/** Rows of data shrink to between a fifth and a thirtieth. */
const mostRatio = 100;
const anyRatioBytes = 50_000_000;
const blockBytes = 65_536;

/** The zip archive of a workbook. Every part is checked against its size and checksum as it is read. */
export class Archive {
  /** Names of all parts, in the order of the archive. */
  readonly names: readonly string[];
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #reader: StoreReader;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, reader: StoreReader) {
    this.#zip = zip;
    this.#entries = entries;
    this.#reader = reader;
    this.names = [...entries.values()].map(({ fileName }) => fileName);
  }

  /** Throws WorkbookError if the archive is incomplete, and the store's own errors. */
  static async open(store: ByteStore): Promise<Archive> {
    const reader = new StoreReader(store);
    if (isCutOff(store))
      throw new WorkbookError('is cut off: its end is missing', 'Copy or download it again.');
    try {
      const zip = await fromRandomAccessReaderPromise(reader, store.size, { autoClose: false });
      if (zip.entryCount > mostEntries) throw bomb(`has ${zip.entryCount} parts`);
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        const key = keyOf(entry.fileName);
        if (entries.has(key)) throw damaged(`its archive has two parts named ${entry.fileName}`);
        entries.set(key, entry);
      }
      return new Archive(zip, entries, reader);
    } catch (error) {
      throw reader.faultOr(error, 'its zip archive cannot be read');
    }
  }

  has(name: string): boolean {
    return this.#entries.has(keyOf(name));
  }

  /** The bytes of a part. Throws WorkbookError if they differ from what was packed, or are too many. */
  async *read(name: string, most: number = mostBytes): AsyncGenerator<Buffer, void> {
    const entry = this.#entries.get(keyOf(name));
    if (entry === undefined) throw damaged(`its part ${name} is missing`);
    const { compressedSize, uncompressedSize, crc32 } = entry;
    if (entry.isEncrypted()) throw new WorkbookError('is encrypted', 'Save it without a password.');
    if (
      uncompressedSize > most ||
      (uncompressedSize > anyRatioBytes && uncompressedSize > compressedSize * mostRatio)
    ) {
      throw bomb(`unpacks ${name} to ${Math.ceil(uncompressedSize / 1_000_000)} MB`);
    }
    let sum = 0;
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      for await (const block of stream as AsyncIterable<Buffer>) {
        sum = checksum(block, sum);
        yield block;
      }
    } catch (error) {
      throw this.#reader.faultOr(error, `its part ${name} cannot be unpacked`);
    }
    if (sum !== crc32) throw damaged(`its part ${name} has the wrong checksum`);
  }
}

const endMark = Buffer.from('PK\x05\x06', 'latin1');
/** The end record of an archive with the longest comment. */
const mostEnd = 65_557;

/** The list of an archive's parts is at its end. */
function isCutOff(store: ByteStore): boolean {
  const length = Math.min(store.size, mostEnd);
  return !store.read(store.size - length, length).includes(endMark);
}

/** Names of parts differ in more than their case; some writers begin them with a slash. */
const keyOf = (name: string) => name.replace(/^\//, '').toLowerCase();

const bomb = (what: string) => new WorkbookError(`${what}: too large for a list`, saveAgain);

class StoreReader extends RandomAccessReader {
  readonly #store: ByteStore;
  /** The store's read error; the archive itself is not at fault then. */
  #fault: unknown;

  constructor(store: ByteStore) {
    super();
    this.#store = store;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#blocks(start, end), { objectMode: false });
  }

  faultOr(error: unknown, detail: string): unknown {
    if (this.#fault !== undefined) return this.#fault;
    if (error instanceof WorkbookError || !(error instanceof Error)) return error;
    return damaged(`${detail} (${error.message})`);
  }

  *#blocks(start: number, end: number): Generator<Buffer> {
    for (let at = start; at < end; at += blockBytes) {
      try {
        yield Buffer.from(this.#store.read(at, Math.min(blockBytes, end - at)));
      } catch (error) {
        this.#fault = error;
        throw error;
      }
    }
  }
}

const mostInMemory = 100_000_000;

/** Holds a workbook in memory, for commands that store no files. */
export class MemoryStore implements ByteStore {
  size = 0;
  #bytes = Buffer.alloc(65_536);

  append(bytes: Uint8Array): void {
    const size = this.size + bytes.length;
    if (size > mostInMemory) throw new WorkbookError('has over 100 MB', 'Save the sheet as CSV (UTF-8).');
    if (size > this.#bytes.length) {
      const wider = Buffer.alloc(Math.max(size, this.#bytes.length * 2));
      wider.set(this.#bytes.subarray(0, this.size));
      this.#bytes = wider;
    }
    this.#bytes.set(bytes, this.size);
    this.size = size;
  }

  read(position: number, length: number): Buffer {
    return this.#bytes.subarray(position, Math.min(position + length, this.size));
  }
}
