import { type Channel, normalizeAddress, type OperatorTable, readNumber } from '../../../contract/index.js';
import { shown } from '../input/input-error.js';
import { isRounded, type RepairCounts, type Repaired, repairAddress, repairNumber } from '../input/repair.js';
import type { BlockFile } from './buffered-file.js';
import { HashIndex, hashOf } from './hash-index.js';

/**
 * The recipients of one file. A row's recipient is first read, and taken only when the whole row is good.
 * A taken recipient is known by a reference, a whole number below 2^32; the same recipient has the same.
 */
export interface Recipients {
  /** Rows that were repaired, by what was repaired. */
  readonly repairs: RepairCounts;
  /** Rows that were repaired. */
  readonly repaired: number;
  /** Most bytes that `write` writes. */
  readonly maxBytes: number;
  /** Reads a recipient as it was written; the reason when it cannot be sent to, else null. */
  read(written: string): string | null;
  /** The normal form of what was read last. */
  readonly form: string;
  /** Takes what was read last. */
  take(): number;
  /** Whether the recipient was taken before; asked once for everything that was taken, in that order. */
  cameBefore(reference: number): boolean;
  /** Writes the normal form, as a JSON string, and returns where it ends. */
  write(reference: number, into: Buffer, at: number): number;
}

export function recipientsOf(
  channel: Channel,
  operators: OperatorTable | undefined,
  addresses: () => BlockFile,
): Recipients {
  return channel === 'sms' ? new Numbers(operators) : new Addresses(addresses());
}

class RepairLog {
  readonly counts: RepairCounts = {};
  total = 0;

  add({ kinds }: Repaired): void {
    if (kinds.length > 0) this.total += 1;
    for (const kind of kinds) this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

const digit0 = 0x30;

/** Telephone numbers; each is its own reference, and one bit says whether it was taken. */
class Numbers implements Recipients {
  readonly maxBytes = 10;
  readonly #operators: OperatorTable | undefined;
  readonly #log = new RepairLog();
  /** By the first two digits, whether an operator serves them. */
  readonly #served: Uint8Array;
  readonly #taken = new Uint8Array(100_000_000 / 8);
  #number = 0;

  constructor(operators: OperatorTable | undefined) {
    this.#operators = operators;
    this.#served = Uint8Array.from({ length: 100 }, (_, prefix) =>
      readNumber(`${String(prefix).padStart(2, '0')}000000`, operators).kind === 'number' ? 1 : 0,
    );
  }

  get repairs(): RepairCounts {
    return this.#log.counts;
  }

  get repaired(): number {
    return this.#log.total;
  }

  get form(): string {
    return String(this.#number).padStart(8, '0');
  }

  read(written: string): string | null {
    const number = eightDigits(written);
    if (number === -1 || this.#served[(number / 1_000_000) | 0] === 0) return this.#readMarked(written);
    this.#number = number;
    return null;
  }

  #readMarked(written: string): string | null {
    const repair = repairNumber(written);
    const reading = readNumber(repair.value, this.#operators);
    if (reading.kind === 'number') {
      if (/[ -]/.test(written) && !repair.kinds.includes('separators')) repair.kinds.push('separators');
      if (repair.value.replace(/[ -]/g, '') !== reading.number) repair.kinds.push('country_code');
      this.#log.add(repair);
      this.#number = Number(reading.number);
      return null;
    }
    if (repair.value.trim() === '') return 'is empty';
    if (isRounded(repair.value)) {
      return `${shown(written)} has lost its last digits; format the column as text and export it again`;
    }
    return reading.kind === 'unsupported'
      ? `${shown(written)} is not served by any operator`
      : `${shown(written)} is no telephone number`;
  }

  take(): number {
    return this.#number;
  }

  cameBefore(reference: number): boolean {
    const at = reference >> 3;
    const bit = 1 << (reference & 7);
    const byte = this.#taken[at] ?? 0;
    this.#taken[at] = byte | bit;
    return (byte & bit) !== 0;
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

/** The number, where the field is 8 digits and nothing else; else -1. */
function eightDigits(field: string): number {
  if (field.length !== 8) return -1;
  let number = 0;
  for (let at = 0; at < 8; at += 1) {
    const digit = field.charCodeAt(at) - digit0;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** Email addresses, kept in a file; a reference is where an address stands in it. */
class Addresses implements Recipients {
  maxBytes = 0;
  readonly #log = new RepairLog();
  readonly #file: BlockFile;
  readonly #index = new HashIndex();
  #address = '';
  #latest = -1;

  constructor(file: BlockFile) {
    this.#file = file;
  }

  get repairs(): RepairCounts {
    return this.#log.counts;
  }

  get repaired(): number {
    return this.#log.total;
  }

  get form(): string {
    return this.#address;
  }

  read(written: string): string | null {
    const plain = normalizeAddress(written);
    if (plain !== null) {
      this.#address = plain;
      return null;
    }
    const repair = repairAddress(written);
    const address = normalizeAddress(repair.value);
    if (address === null) {
      return repair.value === '' ? 'is empty' : `${shown(written)} is no email address`;
    }
    this.#log.add(repair);
    this.#address = address;
    return null;
  }

  take(): number {
    const json = JSON.stringify(this.#address);
    const hash = hashOf(json);
    const known = this.#index.find(hash, (reference) => this.#at(reference).toString() === json);
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

  /** References grow, so one that is not larger than all before is an old one. */
  cameBefore(reference: number): boolean {
    if (reference <= this.#latest) return true;
    this.#latest = reference;
    return false;
  }

  write(reference: number, into: Buffer, at: number): number {
    return at + this.#at(reference).copy(into, at);
  }

  #at(reference: number): Buffer {
    const length = this.#file.read(reference, 2).readUInt16LE(0);
    return this.#file.read(reference + 2, length);
  }
}
