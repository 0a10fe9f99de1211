import { maxBatchRecipients, maxRequestBytes } from '../../../contract/index.js';
import type { RepairKind } from '../input/repair.js';
import type { ComposedMessage, Composer, MessageError, Reading, Uses } from './composer.js';
import type { BufferedFile } from './files/buffered-file.js';
import { grown, HashIndex, hashOf } from './files/hash-index.js';

const replacedBit = 0x80;

/** Limits of the cache of messages, which is keyed by the values of their columns. */
const cachedMessages = 4_096;
const cachedCharacters = 4_000_000;

/**
 * The different messages of a plan, numbered in order of appearance. Their JSON is stored in a file; memory holds 13
 * bytes a message, 17 of an email, and 12 to 24 bytes of hash index.
 */
export class MessageStore {
  readonly #composer: Composer;
  readonly #file: BufferedFile;
  /** Null if no row can be read otherwise. */
  readonly #reading: Reading | null;
  #index = new HashIndex();
  /** Twice the number, and one more if it is new. */
  readonly #cache = new Map<string, number>();
  readonly #scratch = Buffer.allocUnsafeSlow(maxRequestBytes);
  #cachedSize = 0;
  #hits = 0;
  #isCaching = true;
  #ends = new Float64Array(1_024);
  #sizes = new Uint8Array(1_024);
  /** Of the bodies of emails; null for SMS. */
  #bytes: Uint32Array<ArrayBuffer> | null = null;
  /** The number of recipients of each message. */
  counts = new Uint32Array(1_024);
  length = 0;
  /** Whether the last row that `numberOf` took was another message for the release at e5bfb29c. */
  isNew = false;

  constructor(composer: Composer, file: BufferedFile) {
    this.#composer = composer;
    this.#reading = composer.reading?.isConstant ? null : (composer.reading ?? null);
    this.#file = file;
    // A constant message is composed just once.
    if (composer.columns.length === 0) this.#compose([], '');
  }

  /** Indexes of the columns that the messages use. */
  get columns(): readonly number[] {
    return this.#composer.columns;
  }

  /** Those that the message of a row uses; null if every row puts in all of them. */
  usesIn(values: readonly string[]): Uses | null {
    return this.#composer.usesIn?.(values) ?? null;
  }

  /** The number of the row's message; -1 if it has errors. Values must not contain NULs. */
  numberOf(values: readonly string[]): number {
    const { columns } = this.#composer;
    if (columns.length === 0) return 0;
    if (!this.#isCaching) return this.#compose(values, '');
    const only = columns[0] ?? 0;
    const key = columns.length === 1 ? (values[only] ?? '') : columns.map((at) => values[at]).join('\0');
    const cached = this.#cache.get(key);
    if (cached === undefined) return this.#compose(values, key);
    this.#hits += 1;
    this.isNew = (cached & 1) === 1;
    return cached >> 1;
  }

  errorsOf(values: readonly string[]): MessageError[] {
    const message = this.#composer.compose(values);
    return Array.isArray(message) ? message : [];
  }

  /** What is repaired in the message of the row; null if earlier versions sent the same one. */
  changesIn(values: readonly string[]): readonly RepairKind[] | null {
    return this.#reading?.changesIn(values) ?? null;
  }

  /** The messages of the row as earlier versions read it; `written`: with the guards of a report. */
  *earlierTails(values: readonly string[], written: readonly string[], isNew: boolean): Iterable<string> {
    const isGuarded = this.columns.some((at) => values[at] !== written[at]);
    for (const each of [...(isNew ? [values] : []), ...(isGuarded ? [written] : [])]) {
      const tail = this.#composer.reading?.earlierTail(each) ?? null;
      if (tail !== null) yield tail;
    }
  }

  /** Frees the memory for `numberOf`, which cannot be called afterwards. */
  finish(): void {
    this.#index = new HashIndex();
    this.#cache.clear();
  }

  /** The message's JSON; see ComposedMessage. */
  tail(message: number): Buffer {
    const start = this.#startOf(message);
    return this.#file.read(start, (this.#ends[message] ?? 0) - start);
  }

  parts(message: number): number {
    return ((this.#sizes[message] ?? 0) & ~replacedBit) >> 1;
  }

  /** How many recipients get a message in which `--gsm` has replaced characters. */
  get replaced(): number {
    let recipients = 0;
    for (let message = 0; message < this.length; message += 1)
      if (((this.#sizes[message] ?? 0) & replacedBit) !== 0) recipients += this.counts[message] ?? 0;
    return recipients;
  }

  isLatin(message: number): boolean {
    return ((this.#sizes[message] ?? 0) & 1) === 1;
  }

  /**
   * For the messages with recipients: how many there are, and the longest one, by parts and then by characters; of emails
   * by the bytes of their bodies.
   */
  survey(): { messages: number; longest: number } {
    let messages = 0;
    let longest = 0;
    let most = -1;
    for (let message = 0; message < this.length; message += 1) {
      if (this.counts[message] === 0) continue;
      messages += 1;
      const bytes = this.#bytes?.[message] ?? (this.#ends[message] ?? 0) - this.#startOf(message);
      // A Cyrillic character takes two bytes.
      const size = this.parts(message) * maxRequestBytes + (this.isLatin(message) ? 2 * bytes : bytes);
      if (size > most) [longest, most] = [message, size];
    }
    return { messages, longest };
  }

  /** Maximum recipients of a batch: 1,000, or fewer if the body would be too large. */
  capacity(message: number, maxRecipientBytes: number): number {
    const tail = (this.#ends[message] ?? 0) - this.#startOf(message);
    const room = maxRequestBytes - tail - '{"to":[],'.length;
    return Math.max(1, Math.min(maxBatchRecipients, Math.floor(room / (maxRecipientBytes + 1))));
  }

  #startOf(message: number): number {
    return message === 0 ? 0 : (this.#ends[message - 1] ?? 0);
  }

  #compose(values: readonly string[], key: string): number {
    this.isNew = this.changesIn(values) !== null;
    const message = this.#composer.compose(values);
    if (Array.isArray(message)) return -1;
    const hash = hashOf(message.tail);
    const bytes = this.#scratch.subarray(0, this.#scratch.write(message.tail));
    const known = this.#index.find(hash, (number) => this.tail(number).equals(bytes));
    const number = known === -1 ? this.#add(message, bytes, hash) : known;
    if (message.isReplaced) this.#sizes[number] = (this.#sizes[number] ?? 0) | replacedBit;
    this.#remember(key, number);
    return number;
  }

  #add({ kind, parts, bytes: size }: ComposedMessage, bytes: Buffer, hash: number): number {
    const number = this.length;
    if (number === this.#ends.length) this.#grow();
    this.#file.append(bytes);
    this.#ends[number] = this.#file.size;
    this.#sizes[number] = (parts << 1) | (kind === 'latin' ? 1 : 0);
    if (size !== undefined) {
      this.#bytes ??= new Uint32Array(this.#sizes.length);
      this.#bytes[number] = size;
    }
    this.#index.add(hash, number);
    this.length += 1;
    return number;
  }

  /** Stops caching for good if messages do not recur. */
  #remember(key: string, number: number): void {
    if (!this.#isCaching) return;
    if (this.#cache.size === cachedMessages || this.#cachedSize + key.length > cachedCharacters) {
      this.#isCaching = this.#hits > this.#cache.size;
      this.#cache.clear();
      this.#cachedSize = 0;
      this.#hits = 0;
    }
    this.#cachedSize += key.length;
    this.#cache.set(key, number * 2 + Number(this.isNew));
  }

  #grow(): void {
    const size = this.#ends.length * 2;
    this.#ends = grown(this.#ends, size);
    this.#sizes = grown(this.#sizes, size);
    this.counts = grown(this.counts, size);
    if (this.#bytes !== null) this.#bytes = grown(this.#bytes, size);
  }
}
