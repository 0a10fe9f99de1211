import {
  type Channel,
  mixedAlphabets,
  mixesAlphabets,
  normalizeAddress,
  readNumber,
} from '../../../contract/index.js';
import { quoted } from './input-error.js';
import {
  hasSeveral,
  isRounded,
  type RepairCounts,
  type RepairKind,
  repairAddress,
  repairNumber,
} from './repair.js';

/** Reads the recipients of a file one by one. */
export abstract class RecipientReader {
  /** The last recipient in its normal form; often the cell itself: a new string for every row would cost more. */
  normalized = '';
  /** Repaired rows by kind of repair; a row may count under several. */
  readonly repairs: RepairCounts = {};
  /** The number of repaired rows. */
  repaired = 0;

  /** Returns why the recipient cannot be sent to; null if it can. */
  abstract read(written: string): string | null;

  /** Notes what was repaired in the row; `isNoted`: whether its recipient was, too. */
  note(kinds: readonly RepairKind[], isNoted = false): void {
    if (kinds.length > 0 && !isNoted) this.repaired += 1;
    for (const kind of kinds) this.repairs[kind] = (this.repairs[kind] ?? 0) + 1;
  }
}

export function recipientReader(channel: Channel): PhoneNumberReader | AddressReader {
  return channel === 'sms' ? new PhoneNumberReader() : new AddressReader();
}

const digit0 = 0x30;

export class PhoneNumberReader extends RecipientReader {
  /** The last number, below 100,000,000. */
  number = 0;
  /** Whether an operator serves a number, by its first two digits. */
  readonly #served = Uint8Array.from({ length: 100 }, (_, prefix) =>
    readNumber(`${String(prefix).padStart(2, '0')}000000`).kind === 'number' ? 1 : 0,
  );

  read(written: string): string | null {
    const number = eightDigits(written);
    if (number === -1 || this.#served[(number / 1_000_000) | 0] === 0) return this.#readRepaired(written);
    this.number = number;
    this.normalized = written;
    return null;
  }

  #readRepaired(written: string): string | null {
    const repair = repairNumber(written);
    const reading = readNumber(repair.value);
    if (reading.kind === 'number') {
      if (/[ -]/.test(written) && !repair.kinds.includes('separators')) repair.kinds.push('separators');
      if (repair.value.replace(/[ -]/g, '') !== reading.number) repair.kinds.push('country_code');
      this.note(repair.kinds);
      this.number = Number(reading.number);
      this.normalized = reading.number;
      return null;
    }
    if (repair.value.trim() === '') return 'is empty';
    if (isRounded(repair.value)) {
      return `${quoted(written)} has lost its last digits; format the column as text and export it again`;
    }
    if (hasSeveral(written)) return `${quoted(written)} has two numbers; put each in its own row`;
    return reading.kind === 'unsupported'
      ? `${quoted(written)} is not served by any operator`
      : `${quoted(written)} is not a phone number`;
  }
}

/** The number in a field of exactly 8 digits, else -1. */
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

export class AddressReader extends RecipientReader {
  read(written: string): string | null {
    const plain = normalizeAddress(written);
    if (plain !== null) {
      this.normalized = plain;
      return null;
    }
    const repair = repairAddress(written);
    const address = normalizeAddress(repair.value);
    if (address === null) {
      if (repair.value === '') return 'is empty';
      return mixesAlphabets(repair.value)
        ? `${quoted(written)} ${mixedAlphabets}`
        : `${quoted(written)} is not an email address`;
    }
    this.note(repair.kinds);
    this.normalized = address;
    return null;
  }
}
