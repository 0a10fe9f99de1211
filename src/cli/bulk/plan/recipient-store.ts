import { type Channel, comparedRecipient } from '../../../contract/index.js';
import { AddressReader, PhoneNumberReader, type RecipientReader } from '../input/recipient-reader.js';
import type { BufferedFile } from './files/buffered-file.js';
import { HashIndex, hashOfRecipient } from './files/hash-index.js';
import { RowSet } from './row-set.js';

/** Reads the recipients of a plan and keeps the different ones. Each one has a reference, an integer below 2^32. */
export interface RecipientStore extends RecipientReader {
  /** Maximum bytes that `write` writes. */
  readonly maxBytes: number;
  /** Adds the last recipient that was read, and returns its reference. */
  add(): number;
  /** Whether the last recipient that was read was added, and asked for. */
  isKnown(): boolean;
  /** Whether the recipient came before, when it is asked for one row after the other. */
  cameBefore(reference: number): boolean;
  /** Writes the normal form as a JSON string at `at`, and returns where it ends. */
  write(reference: number, into: Buffer, at: number): number;
}

export function recipientStore(channel: Channel, addresses: () => BufferedFile): RecipientStore {
  return channel === 'sms' ? new PhoneNumbers() : new Addresses(addresses());
}

const digit0 = 0x30;

/** A phone number is its own reference. */
class PhoneNumbers extends PhoneNumberReader implements RecipientStore {
  readonly maxBytes = 10;
  /** Made before the rows are read: pages of it that are not written take no memory. */
  readonly #seen = new RowSet(100_000_000);

  add(): number {
    return this.number;
  }

  isKnown(): boolean {
    return this.#seen.has(this.number);
  }

  cameBefore(reference: number): boolean {
    return !this.#seen.add(reference);
  }

  write(reference: number, into: Buffer, at: number): number {
    into[at] = 0x22;
    let rest = reference;
    for (let place = at + 8; place > at; place -= 1) {
      const tens = (rest / 10) | 0;
      into[place] = digit0 + rest - tens * 10;
      rest = tens;
    }
    into[at + 9] = 0x22;
    return at + 10;
  }
}

/** Email addresses are stored in a file, as they were first written; a reference is an offset in it. */
class Addresses extends AddressReader implements RecipientStore {
  maxBytes = 0;
  readonly #file: BufferedFile;
  readonly #index = new HashIndex();
  readonly #seen = new RowSet();

  constructor(file: BufferedFile) {
    super();
    this.#file = file;
  }

  add(): number {
    const json = JSON.stringify(this.normalized);
    const hash = hashOfRecipient(json);
    const known = this.#find(json, hash);
    if (known !== -1) return known;
    const reference = this.#file.size;
    if (reference > 0xffff_fff0) throw new RangeError('more than 4 GB of addresses in one file');
    const bytes = Buffer.byteLength(json);
    this.#file.append(Uint8Array.of(bytes & 0xff, bytes >> 8));
    this.#file.appendText(json);
    this.maxBytes = Math.max(this.maxBytes, bytes);
    this.#index.add(hash, reference);
    return reference;
  }

  isKnown(): boolean {
    const json = JSON.stringify(this.normalized);
    return this.#find(json, hashOfRecipient(json)) !== -1;
  }

  cameBefore(reference: number): boolean {
    // The shortest address, `"a@b"` with its length, takes 7 bytes.
    return !this.#seen.add(reference >>> 2);
  }

  write(reference: number, into: Buffer, at: number): number {
    return at + this.#at(reference).copy(into, at);
  }

  #find(json: string, hash: number): number {
    const isIt = (reference: number) =>
      comparedRecipient(this.#at(reference).toString()) === comparedRecipient(json);
    return this.#index.find(hash, isIt);
  }

  #at(reference: number): Buffer {
    const length = this.#file.read(reference, 2).readUInt16LE(0);
    return this.#file.read(reference + 2, length);
  }
}
