import { maxBatchRecipients, maxRequestBytes } from '../../../contract/index.js';
import type { BlockFile } from './buffered-file.js';
import type { ComposedMessage, Composer, MessageFault } from './composer.js';
import { HashIndex, hashOf } from './hash-index.js';

/** Messages that are remembered by the values they were made of, so that they are not made again. */
const recentMessages = 4_096;
const recentCharacters = 4_000_000;

/**
 * The different messages of one file, numbered in the order they first appear. Their JSON is kept in a
 * file; memory holds 13 bytes a message, and 12 to 24 of hash index.
 */
export class Messages {
  readonly #composer: Composer;
  readonly #file: BlockFile;
  #index = new HashIndex();
  readonly #recent = new Map<string, number>();
  /** A message fits into a request. */
  readonly #scratch = Buffer.allocUnsafeSlow(maxRequestBytes);
  #recentSize = 0;
  #hits = 0;
  #remembers = true;
  #ends = new Float64Array(1_024);
  #sizes = new Uint8Array(1_024);
  /** Recipients of each message. */
  counts = new Uint32Array(1_024);
  length = 0;

  constructor(composer: Composer, file: BlockFile) {
    this.#composer = composer;
    this.#file = file;
    // A constant message is made and measured once, here.
    if (composer.columns.length === 0) this.#compose([], '');
  }

  /** The number of the row's message; -1 when it has a fault. NULs in values must have been refused. */
  numberOf(values: readonly string[]): number {
    const { columns } = this.#composer;
    if (columns.length === 0) return 0;
    const only = columns[0] ?? 0;
    const key = columns.length === 1 ? (values[only] ?? '') : columns.map((at) => values[at]).join('\0');
    const recent = this.#recent.get(key);
    if (recent === undefined) return this.#compose(values, key);
    this.#hits += 1;
    return recent;
  }

  /** What is wrong with the row's message. */
  faultsOf(values: readonly string[]): MessageFault[] {
    const message = this.#composer.compose(values);
    return Array.isArray(message) ? message : [];
  }

  /** Gives back the memory that finding messages took; none may be asked for after. */
  finish(): void {
    this.#index = new HashIndex();
    this.#recent.clear();
  }

  /** The JSON of a message from after `to` on. */
  tail(message: number): Buffer {
    const start = this.#startOf(message);
    return this.#file.read(start, (this.#ends[message] ?? 0) - start);
  }

  parts(message: number): number {
    return (this.#sizes[message] ?? 0) >> 1;
  }

  isLatin(message: number): boolean {
    return ((this.#sizes[message] ?? 0) & 1) === 1;
  }

  /** Most recipients of one batch of a message: 1,000, or fewer where the body would be too large. */
  capacity(message: number, maxRecipientBytes: number): number {
    const tail = (this.#ends[message] ?? 0) - this.#startOf(message);
    const room = maxRequestBytes - tail - '{"to":[],'.length;
    return Math.max(1, Math.min(maxBatchRecipients, Math.floor(room / (maxRecipientBytes + 1))));
  }

  #startOf(message: number): number {
    return message === 0 ? 0 : (this.#ends[message - 1] ?? 0);
  }

  #compose(values: readonly string[], key: string): number {
    const message = this.#composer.compose(values);
    if (Array.isArray(message)) return -1;
    const hash = hashOf(message.tail);
    const bytes = this.#scratch.subarray(0, this.#scratch.write(message.tail));
    const known = this.#index.find(hash, (number) => this.tail(number).equals(bytes));
    const number = known === -1 ? this.#add(message, bytes, hash) : known;
    this.#remember(key, number);
    return number;
  }

  #add({ kind, parts }: ComposedMessage, bytes: Buffer, hash: number): number {
    const number = this.length;
    if (number === this.#ends.length) this.#grow();
    this.#file.append(bytes);
    this.#ends[number] = this.#file.size;
    this.#sizes[number] = (parts << 1) | (kind === 'latin' ? 1 : 0);
    this.#index.add(hash, number);
    this.length += 1;
    return number;
  }

  /** Stops for good where messages do not come back: remembering them would only take memory and time. */
  #remember(key: string, number: number): void {
    if (!this.#remembers) return;
    if (this.#recent.size === recentMessages || this.#recentSize + key.length > recentCharacters) {
      this.#remembers = this.#hits > this.#recent.size;
      this.#recent.clear();
      this.#recentSize = 0;
      this.#hits = 0;
    }
    this.#recentSize += key.length;
    this.#recent.set(key, number);
  }

  #grow(): void {
    const size = this.#ends.length * 2;
    this.#ends = grown(this.#ends, new Float64Array(size));
    this.#sizes = grown(this.#sizes, new Uint8Array(size));
    this.counts = grown(this.counts, new Uint32Array(size));
  }
}

function grown<T extends Float64Array | Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
